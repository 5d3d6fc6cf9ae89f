import { refusal } from '../client.ts'
import { linesOf } from '../output/lines.ts'

export interface SseMessage {
  readonly id: string | null
  readonly event: string
  readonly data: string | null
}

/** The messages of a server-sent event stream. Skips comments. Rejects with `Refused` for an error answer. */
export async function* sseMessages(response: Response): AsyncGenerator<SseMessage> {
  if (!response.ok || !response.body) throw await refusal(response)
  let id: string | null = null
  let event = 'message'
  let data: string[] = []
  for await (const line of linesOf(response.body)) {
    if (line === '') {
      if (id !== null || data.length > 0) yield { id, event, data: data.length > 0 ? data.join('\n') : null }
      id = null
      event = 'message'
      data = []
      continue
    }
    const colon = line.indexOf(':')
    const value = line.slice(colon + 1).replace(/^ /, '')
    const field = line.slice(0, colon)
    if (field === 'id') id = value
    else if (field === 'event') event = value
    else if (field === 'data') data.push(value)
  }
}
