import { Recorded } from '../tree/recorded.ts'
import { bringAll, child, DONE, delegate, type Says, started, TOGETHER, telling, toRest, use } from '../tree/telling.ts'
import { RecordingLog } from './recording.ts'

const send = (to: string, more: object = {}, n = 0) => use('send_message', { to, payload: 'hello', ...more }, n)
const answersAll: Says[number] = ({ state }) => [
  ...state.bus.requests.map(({ id }, n) => use('respond', { request: id, payload: { port: 8080 } }, n)),
  ...(state.bus.requests.length === 0 ? DONE : []),
]

/**
 * Two agents and their parent exchange messages, requests, answers and publications. One message is refused, one
 * bounces, and people take part. The second agent's stream has an accepted loss.
 */
export async function messages(): Promise<RecordingLog> {
  const [a, b] = [child(0, 2), child(1, 2)]
  const root: Says = [
    [use('subscribe', { topic: 'news' }), use('publish', { topic: 'news', payload: 1 }, 1), send('ghost', {}, 2)],
    [delegate('a', 0), delegate('b', 1)],
  ]
  const model = telling(root, {
    a: [
      [
        use('subscribe', { topic: 'news' }),
        use('publish', { topic: 'news', payload: ['rain'] }, 1),
        send(b, { topic: 't' }, 2),
      ],
      [send(b, { expectReply: true })],
      answersAll,
      [send('user:ann', { expectReply: true })],
      answersAll,
    ],
    b: [
      [use('subscribe', { topic: 'news' }), use('publish', { topic: 'news', payload: 'sun' }, 1), send(a, {}, 2)],
      [send(a, { expectReply: true })],
      [send(a, { expectReply: true })],
      answersAll,
    ],
  })
  const book = new Recorded()
  const agents = started(model, TOGETHER, book)
  toRest(agents, 'root')
  bringAll(agents)
  agents.submit(b, { kind: 'accept_loss', loss: { revision: null, hash: null, calls: [] } })
  agents.submit(a, { kind: 'send_message', type: 'request', payload: 'how far?' })
  agents.submit('root', { kind: 'publish', topic: 'news', payload: 'noon' })
  // Both agents send a request before a courier delivers.
  for (const id of [a, b]) toRest(agents, id)
  bringAll(agents)
  agents.settle()
  const log = new RecordingLog()
  await book.into(log)
  return log
}

/** A parent writes to an unborn child. The message bounces; the child receives the later message and its topic. */
export async function bounces(): Promise<RecordingLog> {
  const a = child(0)
  const root: Says = [[delegate('a', 0), send(a, {}, 1)], [use('publish', { topic: 'news', payload: 'noon' })]]
  const hears: Says = [[use('subscribe', { topic: 'news' })], [send('user:ann', { expectReply: true })]]
  const book = new Recorded()
  const agents = started(telling(root, { a: hears }), TOGETHER, book)
  toRest(agents, 'root')
  agents.deliver('root', `agent-${a}`, 'next')
  toRest(agents, a)
  bringAll(agents)
  agents.settle()
  const log = new RecordingLog()
  await book.into(log)
  return log
}
