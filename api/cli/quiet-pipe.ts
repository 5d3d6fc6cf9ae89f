/**
 * Ends the process silently with 0 if the reader closes the pipe (`keepup events … | head`). Any other write error, for
 * example a full disk, prints one line and exits with 1.
 */
export function quietPipe(stream: NodeJS.WriteStream, name: string): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    if (stream !== process.stderr) process.stderr.write(`keepup: cannot write to ${name}: ${error.message}\n`)
    process.exit(1)
  })
}
