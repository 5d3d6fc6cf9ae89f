/** The lines of a body without line ends, each as soon as it is complete. Linear time for any chunk sizes. */
export async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const utf8 = new TextDecoder()
  let held: string[] = []
  for await (const chunk of body) {
    const parts = utf8.decode(chunk, { stream: true }).split('\n')
    for (let i = 0; i < parts.length; i++) {
      held.push(parts[i]!)
      if (i === parts.length - 1) continue
      yield held.join('')
      held = []
    }
  }
  const last = held.join('')
  if (last !== '') yield last
}
