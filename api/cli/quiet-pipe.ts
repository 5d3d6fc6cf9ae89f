/** A reader that goes away (`keepup events … | head`) is no failure: end without a word. */
export function quietPipe(stream: NodeJS.WriteStream): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
}
