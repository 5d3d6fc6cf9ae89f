/**
 * A reader that goes away (`keepup events … | head`) is no failure: ends without a word. What cannot be written otherwise,
 * on a full disk say, is told on one line and ends with 1.
 */
export function quietPipe(stream: NodeJS.WriteStream, name: string): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    if (stream !== process.stderr) process.stderr.write(`keepup: cannot write to ${name}: ${error.message}\n`)
    process.exit(1)
  })
}
