import { type ServerEvent, SseReader } from '../../../adapters/web/sse-reader.ts'
import { refusal } from '../../http/answers.ts'

/** The events of a stream. Rejects with `Refused` if the answer is no stream. */
export async function* serverEvents(response: Response): AsyncGenerator<ServerEvent> {
  if (!response.ok || !response.body) throw await refusal(response)
  const reader = new SseReader()
  for await (const piece of response.body) yield* reader.push(piece)
}
