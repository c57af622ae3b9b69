/* A program in the foreground of a terminal, under the job control of a shell that started us: what tcsetpgrp(3),
 * termios(3) and sigtimedwait(2) need of memory that Swift would move. */
#ifndef HOSTS_CTERMINAL_JOB_H
#define HOSTS_CTERMINAL_JOB_H

#include <sys/types.h>

/* Blocks the signals that a job waits for, in this thread and in those that it makes later. Call it once, before
 * any other thread exists. */
void hosts_job_prepare(void);

/* Starts a program with the terminal as it is, in a process group of its own and in the foreground where we are in the
 * foreground; without a controlling terminal, or from the background, it stays in our group. `words` ends with NULL,
 * the first is looked up in PATH. One job at a time.
 *
 * Returns 0 or an errno value. */
int hosts_job_start(char *const words[]);

/* Waits for the end of the job. SIGHUP, SIGINT, SIGQUIT and SIGTERM that come to us are given to it; when it is stopped,
 * so are we, with the terminal as it was before, and it goes on when we do.
 *
 * Returns 1 when it has ended, with its status as waitpid(2) has it; 0 when the time has passed. */
int hosts_job_wait(int milliseconds, int *status);

/* Waits without a job. Returns the number of the signal that came and ends us: SIGHUP, SIGINT, SIGQUIT or SIGTERM; 0
 * when the time has passed. */
int hosts_job_pause(int milliseconds);

/* The number of a signal that has ended us or the job, SIGHUP for a terminal that is gone; 0 for none. */
int hosts_job_signal(void);

/* What the job has made of the terminal: 1 raw, as a remote session has it; 2 a hidden question; 0 neither, or no
 * terminal. */
int hosts_job_terminal(void);

/* Throws away what was typed and not read. */
void hosts_job_discard_input(void);

#endif
