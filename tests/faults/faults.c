/* Faults of a disk, by the real system calls of a process that this is preloaded into.

   Calls that concern files under one folder are counted by kind; at the n-th of a kind an error is
   given, or only a half is written. All of them can be logged, so that a test can work out what
   would be on the disk if the power had failed at any moment. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { OPEN, WRITE, SYNC, TRUNCATE, RENAME, UNLINK, MKDIR, KINDS };
enum op { CLOSED = KINDS, MARK };
enum { SHORT = -1, MOST_FILES = 4096 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char folder[PATH_MAX];
static char *paths[MOST_FILES]; /* by descriptor; of files in the folder */
static int append[MOST_FILES];
static int log_file = -1;
static long counts[KINDS], hits;
static char where[PATH_MAX]; /* the last fault was */
static int armed_kind = -1, armed_how, armed_lasting;
static long armed_at;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* ------------------------------------------------------------------ for the test */

void faults_watch(const char *place, const char *log) {
    snprintf(folder, sizeof folder, "%s", place);
    memset(counts, 0, sizeof counts);
    hits = 0;
    if (*log)
        log_file = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

void faults_arm(int kind, long at, int how, int lasting) {
    armed_kind = kind, armed_at = at, armed_how = how, armed_lasting = lasting;
}

long faults_count(int kind) { return counts[kind]; }

long faults_hits(void) { return hits; }

const char *faults_where(void) { return where; }

/* ------------------------------------------------------------------ counting and logging */

static int is_inside(const char *path) {
    size_t length = strlen(folder);
    return length && !strncmp(path, folder, length) && (path[length] == '/' || !path[length]);
}

static const char *path_of(int fd) {
    return *folder && fd >= 0 && fd < MOST_FILES ? paths[fd] : NULL;
}

/* The error to give, SHORT, or 0; the mutex is held. */
static int fault(enum kind kind, const char *path) {
    long n = ++counts[kind];
    if (armed_kind != (int)kind || n < armed_at || (n > armed_at && !armed_lasting)) return 0;
    if (!hits++) snprintf(where, sizeof where, "%s", path);
    return armed_how;
}

static void put(const void *data, size_t size) {
    const char *rest = data;
    while (size) {
        ssize_t done = syscall(SYS_write, log_file, rest, size);
        if (done < 0) abort();
        rest += done, size -= done;
    }
}

static void note(int op, int fd, int64_t number, const void *first, uint32_t first_size,
                 const void *second, uint32_t second_size) {
    if (log_file < 0) return;
    struct { int32_t op, fd; int64_t number; uint32_t first, second; } head = {
        op, fd, number, first_size, second_size};
    put(&head, sizeof head);
    put(first, first_size);
    put(second, second_size);
}

static void note_path(int op, int fd, int64_t number, const char *path) {
    note(op, fd, number, path, strlen(path), "", 0);
}

void faults_mark(const char *what) {
    pthread_mutex_lock(&mutex);
    note_path(MARK, -1, 0, what);
    pthread_mutex_unlock(&mutex);
}

/* ------------------------------------------------------------------ opening and closing */

static int opened(int (*real)(const char *, int, ...), const char *path, int flags, mode_t mode) {
    if (!*folder || !is_inside(path)) return real(path, flags, mode);
    int saved = 0, fd = -1, writes = (flags & O_ACCMODE) != O_RDONLY || flags & O_CREAT;
    pthread_mutex_lock(&mutex);
    int wrong = writes ? fault(OPEN, path) : 0;
    if (wrong > 0) {
        saved = wrong;
    } else {
        fd = real(path, flags, mode);
        saved = errno;
        if (fd >= 0 && fd < MOST_FILES) {
            free(paths[fd]);
            paths[fd] = strdup(path);
            append[fd] = !!(flags & O_APPEND);
            note_path(OPEN, fd, flags, path);
        }
    }
    pthread_mutex_unlock(&mutex);
    errno = saved;
    return fd;
}

static mode_t mode_of(int flags, va_list rest) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

#define OPENS(name)                                  \
    int name(const char *path, int flags, ...) {     \
        va_list rest;                                \
        va_start(rest, flags);                       \
        mode_t mode = mode_of(flags, rest);          \
        va_end(rest);                                \
        return opened(REAL(name), path, flags, mode); \
    }
OPENS(open)
OPENS(open64)

/* The whole path of one that begins at an open folder; NULL when that is not watched. */
static const char *whole(int at, const char *path, char *room) {
    if (*path == '/') return path;
    if (!path_of(at)) return NULL;
    snprintf(room, PATH_MAX, "%s/%s", paths[at], path);
    return room;
}

#define OPENS_AT(name, plain)                                              \
    int name(int at, const char *path, int flags, ...) {                   \
        va_list rest;                                                      \
        va_start(rest, flags);                                             \
        mode_t mode = mode_of(flags, rest);                                \
        va_end(rest);                                                      \
        char room[PATH_MAX];                                               \
        const char *found = whole(at, path, room);                         \
        if (!found) return REAL(name)(at, path, flags, mode);              \
        return opened(REAL(plain), found, flags, mode);                    \
    }
OPENS_AT(openat, open)
OPENS_AT(openat64, open64)

int close(int fd) {
    if (path_of(fd)) {
        pthread_mutex_lock(&mutex);
        note(CLOSED, fd, 0, "", 0, "", 0);
        free(paths[fd]);
        paths[fd] = NULL;
        pthread_mutex_unlock(&mutex);
    }
    return REAL(close)(fd);
}

/* ------------------------------------------------------------------ writing */

static ssize_t written(int fd, const void *data, size_t size, off64_t offset) {
    ssize_t done = -1;
    int saved = 0;
    pthread_mutex_lock(&mutex);
    int wrong = fault(WRITE, paths[fd]);
    if (wrong > 0) {
        saved = wrong;
    } else {
        int64_t at = offset >= 0 ? offset : lseek64(fd, 0, append[fd] ? SEEK_END : SEEK_CUR);
        if (wrong == SHORT && size > 1) size /= 2;
        done = syscall(SYS_pwrite64, fd, data, size, at);
        saved = errno;
        if (done >= 0 && offset < 0) lseek64(fd, at + done, SEEK_SET);
        if (done > 0) note(WRITE, fd, at, data, done, "", 0);
    }
    pthread_mutex_unlock(&mutex);
    errno = saved;
    return done;
}

ssize_t write(int fd, const void *data, size_t size) {
    return path_of(fd) ? written(fd, data, size, -1) : REAL(write)(fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
    return path_of(fd) ? written(fd, data, size, offset) : REAL(pwrite)(fd, data, size, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    return path_of(fd) ? written(fd, data, size, offset) : REAL(pwrite64)(fd, data, size, offset);
}

ssize_t writev(int fd, const struct iovec *pieces, int count) {
    if (!path_of(fd)) return REAL(writev)(fd, pieces, count);
    ssize_t done = 0; /* as some piece by piece: fewer bytes than asked for are allowed */
    for (int i = 0; i < count; i++) {
        ssize_t more = written(fd, pieces[i].iov_base, pieces[i].iov_len, -1);
        if (more < 0) return done ? done : more;
        done += more;
        if ((size_t)more < pieces[i].iov_len) break;
    }
    return done;
}

/* ------------------------------------------------------------------ the rest */

#define CALLED(kind, path, call, noting)         \
    int result = -1, saved = 0;                  \
    pthread_mutex_lock(&mutex);                  \
    int wrong = fault(kind, path);               \
    if (wrong > 0) {                             \
        saved = wrong;                           \
    } else {                                     \
        result = call;                           \
        saved = errno;                           \
        if (!result) noting;                     \
    }                                            \
    pthread_mutex_unlock(&mutex);                \
    errno = saved;                               \
    return result

int fsync(int fd) {
    if (!path_of(fd)) return REAL(fsync)(fd);
    CALLED(SYNC, paths[fd], REAL(fsync)(fd), note(SYNC, fd, 0, "", 0, "", 0));
}

int fdatasync(int fd) {
    if (!path_of(fd)) return REAL(fdatasync)(fd);
    CALLED(SYNC, paths[fd], REAL(fdatasync)(fd), note(SYNC, fd, 0, "", 0, "", 0));
}

int ftruncate(int fd, off_t size) {
    if (!path_of(fd)) return REAL(ftruncate)(fd, size);
    CALLED(TRUNCATE, paths[fd], REAL(ftruncate)(fd, size), note(TRUNCATE, fd, size, "", 0, "", 0));
}

int ftruncate64(int fd, off64_t size) {
    if (!path_of(fd)) return REAL(ftruncate64)(fd, size);
    CALLED(TRUNCATE, paths[fd], REAL(ftruncate64)(fd, size), note(TRUNCATE, fd, size, "", 0, "", 0));
}

int rename(const char *from, const char *to) {
    if (!is_inside(from)) return REAL(rename)(from, to);
    CALLED(RENAME, from, REAL(rename)(from, to), note(RENAME, -1, 0, from, strlen(from), to, strlen(to)));
}

int unlink(const char *path) {
    if (!is_inside(path)) return REAL(unlink)(path);
    CALLED(UNLINK, path, REAL(unlink)(path), note_path(UNLINK, -1, 0, path));
}

int mkdir(const char *path, mode_t mode) {
    if (!is_inside(path)) return REAL(mkdir)(path, mode);
    CALLED(MKDIR, path, REAL(mkdir)(path, mode), note_path(MKDIR, -1, 0, path));
}

int renameat(int from_at, const char *from, int to_at, const char *to) {
    char first[PATH_MAX], second[PATH_MAX];
    const char *source = whole(from_at, from, first), *target = whole(to_at, to, second);
    if (!source || !target) return REAL(renameat)(from_at, from, to_at, to);
    return rename(source, target);
}

int unlinkat(int at, const char *path, int flags) {
    char room[PATH_MAX];
    const char *found = whole(at, path, room);
    if (!found || flags) return REAL(unlinkat)(at, path, flags);
    return unlink(found);
}

int mkdirat(int at, const char *path, mode_t mode) {
    char room[PATH_MAX];
    const char *found = whole(at, path, room);
    return found ? mkdir(found, mode) : REAL(mkdirat)(at, path, mode);
}
