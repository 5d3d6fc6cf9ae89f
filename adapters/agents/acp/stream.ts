import type { AnyMessage, Stream } from '@agentclientprotocol/sdk'
import type { JsonObject } from '../../../domain/log/json.ts'
import type { Mapped } from '../../../domain/ports/external.ts'
import { parseLine } from '../process/map-line.ts'
import type { AgentProcess } from '../process/process.ts'

export interface AcpStream {
  readonly stream: Stream
  /** The agent has closed its output or no longer reads its input. Requests to it get no answer. */
  readonly over: () => boolean
  /** Reads the rest of the output, so that the process can exit. */
  drain(): Promise<void>
}

/**
 * The messages of a process, one per line, within the bounds of the harness. While the sink is not ready, nothing is
 * read, and the agent waits.
 */
export function acpStream(
  process_: AgentProcess,
  emit: (mapped: Mapped) => void,
  ready: () => Promise<void>,
): AcpStream {
  const lines = process_.lines[Symbol.asyncIterator]()
  let over = false
  let deaf = false
  const open = new Set<unknown>()
  const next = async (): Promise<AnyMessage | null> => {
    for (;;) {
      await ready()
      const { value, done } = await lines.next()
      if (done === true) {
        over = true
        return null
      }
      const parsed = parseLine(value)
      if ('instead' in parsed) emit(parsed.instead)
      else if (isMessage(parsed.object, open)) return parsed.object
      else emit(NO_MESSAGE)
    }
  }
  const readable = new ReadableStream<AnyMessage>(
    {
      async pull(controller) {
        const message = await next()
        if (message === null) controller.close()
        else controller.enqueue(message)
      },
    },
    { highWaterMark: 0 },
  )
  const writable = new WritableStream<AnyMessage>({
    async write(message) {
      if ('method' in message && 'id' in message) open.add(message.id)
      try {
        await write(process_, `${JSON.stringify(message)}\n`)
      } catch (fault) {
        deaf = true
        throw fault
      }
    },
  })
  const drain = async () => {
    while (!over && (await next().catch(() => null)) !== null);
  }
  return { stream: { readable, writable }, over: () => over || deaf, drain }
}

const NO_MESSAGE: Mapped = { events: [{ kind: 'Unknown', message: 'a line that is no message of the protocol' }] }

/**
 * Accepts a response only if its request is `open`. The protocol's library would write parts of any other line to
 * stderr.
 */
function isMessage(object: JsonObject, open: Set<unknown>): object is JsonObject & AnyMessage {
  const { method, id } = object
  return method === undefined ? open.delete(id) : typeof method === 'string'
}

const write = ({ stdin }: AgentProcess, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    if (stdin === null || !stdin.writable) reject(new Error('the agent reads nothing any more'))
    else stdin.write(text, (error) => (error ? reject(error) : resolve()))
  })
