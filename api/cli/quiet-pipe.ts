/**
 * Ends the process silently with 0 if the reader of the standard output closes the pipe (`keepup events … | head`). Any
 * other write error there, for example a full disk, prints one line and exits with 1. Messages that cannot be written to
 * the standard error are lost: a server or a run does not end with the reader of its messages.
 */
export function quietPipe({ stdout, stderr }: Pick<NodeJS.Process, 'stdout' | 'stderr'>): void {
  stderr.on('error', () => undefined)
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    stderr.write(`keepup: cannot write to standard output: ${error.message}\n`)
    process.exit(1)
  })
}
