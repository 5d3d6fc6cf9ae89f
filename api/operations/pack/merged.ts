import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import type { EventLog } from '../../../domain/ports/index.ts'

/** The events of some streams in the order of the log. */
export async function* mergedStreams(
  log: EventLog,
  names: readonly string[],
  bodies: boolean,
): AsyncGenerator<RecordedEvent> {
  async function* events(name: string): AsyncGenerator<RecordedEvent> {
    for await (const page of log.read(name, { bodies })) yield* page
  }
  const open: { event: RecordedEvent; rest: AsyncGenerator<RecordedEvent> }[] = []
  for (const name of names) {
    const rest = events(name)
    const { value, done } = await rest.next()
    if (!done) open.push({ event: value, rest })
  }
  while (open.length > 0) {
    const first = open.reduce((least, one) => (one.event.position < least.event.position ? one : least))
    yield first.event
    const { value, done } = await first.rest.next()
    if (done) open.splice(open.indexOf(first), 1)
    else first.event = value
  }
}
