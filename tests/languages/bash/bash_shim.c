/* Stands for every program: logs its words, the variables that begin with V, and its standard input. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
extern char **environ;
static char out[1 << 18];
static size_t used;
static void put(const char *from, size_t length) {
    if (used + length + 1 > sizeof out) _exit(99);
    memcpy(out + used, from, length);
    used += length;
    out[used++] = 0;
}
static void count(long number) { char text[24]; put(text, snprintf(text, sizeof text, "%ld", number)); }
int main(int argc, char **argv) {
    struct stat at;
    static char input[8192];
    ssize_t length = 0, got;
    long added = 0;
    char **each;
    int log = open(LOG, O_WRONLY | O_APPEND);
    if (log < 0 || fstat(log, &at)) return 98;
    if (at.st_size > 1 << 14) kill(0, SIGKILL);
    const char *pattern = getenv("SHIM_EXIT");
    int status = pattern ? (atoi(pattern) >> (at.st_size % 7)) & 1 : 0;
    count(argc);
    for (int i = 0; i < argc; i++) put(argv[i], strlen(argv[i]));
    for (each = environ; *each; each++) added += (*each)[0] == 'V';
    count(added);
    for (each = environ; *each; each++) if ((*each)[0] == 'V') put(*each, strlen(*each));
    const char *kind = "none";
    if (!fstat(0, &at)) {
        kind = S_ISFIFO(at.st_mode) ? "pipe" : S_ISREG(at.st_mode) ? "file" : "other";
        if (*kind != 'o')
            while ((got = read(0, input + length, sizeof input - length)) > 0) length += got;
    }
    put(kind, strlen(kind));
    count(length);
    put(input, length);
    if (write(log, out, used) < 0) return 97;
    return status;
}
