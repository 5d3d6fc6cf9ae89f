/** All answers of a server to one request, an event stream included. In bytes. */
const MAX_BYTES = 64 * 2 ** 20

/**
 * A `fetch` for streamable HTTP: follows no redirect, because headers with secrets must not reach another host, and breaks off
 * a body that is larger than a server's answer may be.
 */
export const boundedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: 'manual' })
  if (response.status >= 300 && response.status < 400) {
    await response.body?.cancel()
    throw new Error('the server redirects to another address; name that address in the settings')
  }
  if (response.body === null) return response
  let size = 0
  const bounded = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        size += piece.length
        if (size > MAX_BYTES) controller.error(new Error(`the server sent more than ${MAX_BYTES} bytes in one answer`))
        else controller.enqueue(piece)
      },
    }),
  )
  const { status, statusText, headers } = response
  return new Response(bounded, { status, statusText, headers })
}
