/*
  Compiled code on disk, so that the next process need not compile it. A file's name is a hash of its key: the
  text, the options, the architecture and the compiler's version. The file has the whole key, so that neither
  another key of the same hash nor half a file is taken for what was asked for.
*/
#include <backend/nvrtc/nvrtc.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[] = "hops pointwise 1";

typedef struct {
  char     magic[sizeof(magic)];
  uint64_t nkey, size;
} Header;

/* FNV-1a */
static unsigned long long Hash(const char s[], size_t n, uint64_t h)
{
  for (size_t i = 0; i < n; ++i) h = (h ^ (unsigned char)s[i]) * UINT64_C(1099511628211);
  return h;
}

/* -hops_pointwise_cache DIR, else the user's folder for such things; "" where there is none, or it is
   "none" */
static PetscErrorCode CacheFolder(char dir[], size_t len)
{
  const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  PetscBool   set, none;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-hops_pointwise_cache", dir, len, &set));
  if (set) {
    PetscCall(PetscStrcmp(dir, "none", &none));
    if (none) dir[0] = '\0';
  } else if (xdg && xdg[0]) PetscCall(PetscSNPrintf(dir, len, "%s/hops", xdg));
  else if (home && home[0]) PetscCall(PetscSNPrintf(dir, len, "%s/.cache/hops", home));
  else dir[0] = '\0';
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CachePath(const char key[], char path[], size_t len)
{
  const size_t n = strlen(key);
  char         dir[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  path[0] = '\0';
  PetscCall(CacheFolder(dir, sizeof(dir)));
  if (dir[0])
    PetscCall(PetscSNPrintf(path, len, "%s/%016llx%016llx.cubin", dir, Hash(key, n, UINT64_C(14695981039346656037)),
                            Hash(key, n, UINT64_C(88172645463325252))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsNvrtcCacheGet(const char key[], char **image, size_t *size)
{
  const size_t n = strlen(key);
  char         path[PETSC_MAX_PATH_LEN], *stored = NULL;
  Header       h;
  FILE        *f;
  PetscBool    good;

  PetscFunctionBegin;
  *image = NULL;
  *size  = 0;
  PetscCall(CachePath(key, path, sizeof(path)));
  f = path[0] ? fopen(path, "rb") : NULL;
  if (!f) PetscFunctionReturn(PETSC_SUCCESS);
  good = fread(&h, sizeof(h), 1, f) == 1 && !memcmp(h.magic, magic, sizeof(magic)) && h.nkey == n && h.size && h.size < 1 << 30
           ? PETSC_TRUE
           : PETSC_FALSE;
  if (good) {
    PetscCall(PetscMalloc1(n, &stored));
    PetscCall(PetscMalloc1(h.size, image));
    if (fread(stored, 1, n, f) != n || memcmp(stored, key, n) || fread(*image, 1, h.size, f) != h.size) good = PETSC_FALSE;
    PetscCall(PetscFree(stored));
    if (good) *size = h.size;
    else PetscCall(PetscFree(*image));
  }
  (void)fclose(f);
  PetscCall(
    PetscInfo(NULL, "compiled point functions: %s %s\n", path, good ? "is used" : "is not what it should be: compiled anew"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* with its parents */
static void MakeFolder(char path[])
{
  for (char *s = path + 1; *s; ++s)
    if (*s == '/') {
      *s = '\0';
      (void)mkdir(path, 0700);
      *s = '/';
    }
  (void)mkdir(path, 0700);
}

PetscErrorCode HopsNvrtcCachePut(const char key[], const char image[], size_t size)
{
  const size_t n = strlen(key);
  char         dir[PETSC_MAX_PATH_LEN], path[PETSC_MAX_PATH_LEN], part[PETSC_MAX_PATH_LEN + 32];
  Header       h = {.nkey = n, .size = size};
  FILE        *f;
  PetscBool    good;

  PetscFunctionBegin;
  PetscCall(CachePath(key, path, sizeof(path)));
  if (!path[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CacheFolder(dir, sizeof(dir)));
  MakeFolder(dir);
  memcpy(h.magic, magic, sizeof(magic));
  PetscCall(PetscSNPrintf(part, sizeof(part), "%s.%ld", path, (long)getpid())); /* other processes see whole files alone */
  f    = fopen(part, "wb");
  good = f && fwrite(&h, sizeof(h), 1, f) == 1 && fwrite(key, 1, n, f) == n && fwrite(image, 1, size, f) == size ? PETSC_TRUE
                                                                                                                 : PETSC_FALSE;
  if (f && fclose(f)) good = PETSC_FALSE;
  if (good && rename(part, path)) good = PETSC_FALSE;
  if (f && !good) (void)remove(part);
  PetscCall(PetscInfo(NULL, "compiled point functions: %s %s\n", path,
                      good ? "written" : "cannot be written: -hops_pointwise_cache names another folder"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
