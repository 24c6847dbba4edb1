/*
  Linked to the programs of tests, with -Wl,--wrap=main: several runs of a program, one after the other in one
  process. To start a process with PETSc's libraries, and MPI, takes as long as most runs.

    program -together FILE

  FILE has for each run a folder, the number of arguments, and these, each on a line of its own. A run works
  in its folder, where `stdout` and `stderr` become what all ranks write. `status` follows, when the run has
  ended on all of them: the greatest exit status, the seconds that it took, and those of processors. The
  program's variables are as at the start then. A run that ends the process ends them all: config/runtests
  runs alone what has not passed.
*/
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

int __real_main(int, char **);
int __wrap_main(int, char **);

/* the program's variables, as the linker names their ends */
extern char __data_start, _end;

static void Check(int good, const char what[])
{
  if (good) return;
  fprintf(stderr, "together: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 99);
}

static double Processor(void)
{
  struct rusage u;

  getrusage(RUSAGE_SELF, &u);
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* a line without its end, which the caller frees; NULL at the end of the file */
static char *Line(FILE *f)
{
  char   *line = NULL;
  size_t  size = 0;
  ssize_t n    = getline(&line, &size, f);

  if (n < 0) {
    free(line);
    return NULL;
  }
  if (n && line[n - 1] == '\n') line[n - 1] = 0;
  return line;
}

static void Redirect(int to, const char name[])
{
  const int fd = open(name, O_WRONLY | O_CREAT | O_APPEND, 0666);

  Check(fd >= 0 && dup2(fd, to) == to, name);
  close(fd);
}

static void Report(int status, double begin, double processor)
{
  int    most, rank;
  double all;
  FILE  *f;

  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  processor = Processor() - processor;
  MPI_Allreduce(&status, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(&processor, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank) return;
  f = fopen("status", "w");
  Check(f != NULL, "status");
  fprintf(f, "%d %.3f %.3f\n", most, MPI_Wtime() - begin, all);
  fclose(f);
}

static int Together(char *program, const char name[])
{
  FILE        *list = fopen(name, "r");
  const size_t size = (size_t)(&_end - &__data_start);
  char        *keep = (char *)malloc(size), *folder;

  Check(list && keep, name);
  memcpy(keep, &__data_start, size);
  while ((folder = Line(list))) {
    char  *number = Line(list), **argv;
    int    argc, status;
    double begin, processor;

    Check(number != NULL && !chdir(folder), folder);
    argc    = atoi(number) + 1;
    argv    = (char **)calloc((size_t)argc + 1, sizeof(*argv));
    argv[0] = strdup(program);
    for (int i = 1; i < argc; ++i) argv[i] = Line(list);
    fflush(NULL);
    Redirect(STDOUT_FILENO, "stdout");
    Redirect(STDERR_FILENO, "stderr");
    begin     = MPI_Wtime();
    processor = Processor();
    status    = __real_main(argc, argv); /* argv stays: the program may have moved it */
    fflush(NULL);
    memcpy(&__data_start, keep, size);
    Report(status, begin, processor);
    free(number);
    free(folder);
  }
  fclose(list);
  free(keep);
  return 0;
}

int __wrap_main(int argc, char **argv)
{
  int level;

  if (argc != 3 || strcmp(argv[1], "-together")) return __real_main(argc, argv);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level); /* as PETSc does */
  (void)Together(argv[0], argv[2]);
  MPI_Finalize();
  return 0;
}
