/* Names of functions in memory, from the symbol tables of the program and its libraries: static functions are
   in .symtab alone, which the dynamic linker does not read. */
#ifndef _GNU_SOURCE
  #define _GNU_SOURCE
#endif
#include <hops/private/hopspointimpl.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
  ElfW(Addr) address, base;
  char      path[PETSC_MAX_PATH_LEN];
  PetscBool found;
} Object;

static int FindObject(struct dl_phdr_info *info, size_t size, void *p)
{
  Object *o = (Object *)p;

  for (int k = 0; k < info->dlpi_phnum; ++k) {
    const ElfW(Phdr) *h    = &info->dlpi_phdr[k];
    const ElfW(Addr) begin = info->dlpi_addr + h->p_vaddr;

    if (h->p_type != PT_LOAD || o->address < begin || o->address >= begin + h->p_memsz) continue;
    o->found = PETSC_TRUE;
    o->base  = info->dlpi_addr;
    (void)PetscStrncpy(o->path, info->dlpi_name && info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe", sizeof(o->path));
    return 1;
  }
  return 0;
}

/* A file of ELF in memory, with one of its symbol tables */
typedef struct {
  const char *data;
  size_t      size;
  const ElfW(Sym) * sym;
  size_t      nsym;
  const char *names;
  size_t      nnames;
} Table;

static PetscBool TableGet(Table *t, ElfW(Word) type)
{
  const ElfW(Ehdr) *e = (const ElfW(Ehdr) *)t->data;
  const ElfW(Shdr) * s;

  t->nsym = 0;
  if (t->size < sizeof(*e) || memcmp(e->e_ident, ELFMAG, SELFMAG) || e->e_shoff + e->e_shnum * sizeof(*s) > t->size)
    return PETSC_FALSE;
  s = (const ElfW(Shdr) *)(t->data + e->e_shoff);
  for (int k = 0; k < e->e_shnum; ++k) {
    if (s[k].sh_type != type || s[k].sh_link >= e->e_shnum) continue;
    if (s[k].sh_offset + s[k].sh_size > t->size || s[s[k].sh_link].sh_offset + s[s[k].sh_link].sh_size > t->size)
      return PETSC_FALSE;
    t->sym    = (const ElfW(Sym) *)(t->data + s[k].sh_offset);
    t->nsym   = s[k].sh_size / sizeof(*t->sym);
    t->names  = t->data + s[s[k].sh_link].sh_offset;
    t->nnames = s[s[k].sh_link].sh_size;
    return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

static PetscErrorCode TableOpen(const char path[], Table *t)
{
  struct stat st;
  const int   fd = open(path, O_RDONLY);

  PetscFunctionBegin;
  t->data = NULL;
  t->size = 0;
  if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0) {
    void *p = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

    if (p != MAP_FAILED) {
      t->data = (const char *)p;
      t->size = st.st_size;
    }
  }
  if (fd >= 0) close(fd);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void TableClose(Table *t)
{
  if (t->data) munmap((void *)t->data, t->size);
}

static const char *SymbolName(const Table *t, const ElfW(Sym) * s)
{
  return s->st_name < t->nnames ? t->names + s->st_name : "";
}

PetscErrorCode HopsPointSymbolFind(HopsVoidFn fn, HopsPointSymbol *symbol, char why[], size_t len)
{
  Object      o = {.address = (ElfW(Addr))fn};
  Table       t;
  const char *file = "";
  PetscBool   full;

  PetscFunctionBegin;
  symbol->n = 0;
  why[0]    = '\0';
  dl_iterate_phdr(FindObject, &o);
  if (!o.found) {
    PetscCall(PetscSNPrintf(why, len, "a function at %p belongs to no program or library", (void *)o.address));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscStrncpy(symbol->object, o.path, sizeof(symbol->object)));
  PetscCall(TableOpen(o.path, &t));
  full = TableGet(&t, SHT_SYMTAB);
  if (!full) (void)TableGet(&t, SHT_DYNSYM);
  for (size_t k = 0; k < t.nsym; ++k) {
    const ElfW(Sym) *s = &t.sym[k];
    const int type = ELF64_ST_TYPE(s->st_info), local = ELF64_ST_BIND(s->st_info) == STB_LOCAL;

    if (type == STT_FILE) file = SymbolName(&t, s);
    if (type != STT_FUNC || s->st_shndx == SHN_UNDEF || o.base + s->st_value != o.address || symbol->n == HOPS_POINT_NAMES)
      continue;
    PetscCall(PetscStrncpy(symbol->name[symbol->n], SymbolName(&t, s), sizeof(symbol->name[0])));
    PetscCall(PetscStrncpy(symbol->source[symbol->n], local ? file : "", sizeof(symbol->source[0])));
    ++symbol->n;
  }
  TableClose(&t);
  if (!symbol->n)
    PetscCall(PetscSNPrintf(why, len,
                            full ? "%s has no name for the function at %p"
                                 : "%s is stripped, so that the function at %p has no name: link it without -s and do not strip it",
                            o.path, (void *)o.address));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HopsPointSymbolVariable(const HopsPointSymbol *symbol, HopsVoidFn fn, const char source[], const char name[],
                                       void **address, size_t *size, PetscBool *many)
{
  Object      o = {.address = (ElfW(Addr))fn};
  Table       t;
  const char *file = "";
  PetscInt    n    = 0;
  PetscBool   own, owned = PETSC_FALSE;

  PetscFunctionBegin;
  *address = NULL;
  dl_iterate_phdr(FindObject, &o);
  PetscCall(TableOpen(symbol->object, &t));
  (void)TableGet(&t, SHT_SYMTAB);
  for (size_t k = 0; k < t.nsym; ++k) {
    const ElfW(Sym) *s = &t.sym[k];
    const int type     = ELF64_ST_TYPE(s->st_info);

    if (type == STT_FILE) file = SymbolName(&t, s);
    if (type != STT_OBJECT || s->st_shndx == SHN_UNDEF || strcmp(SymbolName(&t, s), name)) continue;
    own = ELF64_ST_BIND(s->st_info) != STB_LOCAL || !strcmp(file, source) ? PETSC_TRUE : PETSC_FALSE;
    ++n;
    if (!own && n > 1 && *address && owned) continue;
    *address = (void *)(o.base + s->st_value);
    *size    = s->st_size;
    owned    = own;
  }
  TableClose(&t);
  if (n > 1 && !owned) *address = NULL;
  *many = n > 1 && !owned ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
