import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { EventView } from '../../../api/operations/events/schemas.ts'
import type { MessageList } from '../../../api/operations/messages/schemas.ts'
import { FamilyMessages, PAGE } from '../../../api/web/run/family/family-messages.ts'

// The messages between the agents of a run, as a page that stays open reads them.

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A server with a number of messages, which notes the cursors of the requests. */
function server(count: number) {
  const asked: (string | undefined)[] = []
  // `meanwhile`: what happens during the next request.
  const state = { count, isDown: false, meanwhile: () => {} }
  const read = async (after: string | undefined): Promise<MessageList> => {
    asked.push(after)
    const { isDown, meanwhile } = state
    state.meanwhile = () => {}
    meanwhile()
    if (isDown) throw new Error('no answer')
    const from = Number(after ?? 0)
    const length = Math.min(PAGE, state.count - from)
    const messages = Array.from({ length }, (_, i) => ({ id: `m${from + i}`, receivedBy: [] as string[] }))
    const next = from + length < state.count ? String(from + length) : null
    return { position: String(state.count), messages: messages as never, next }
  }
  return { state, asked, read }
}

const open = async (count: number) => {
  const of = server(count)
  const messages = new FamilyMessages(of.read, (error) => (error as Error).message)
  await vi.runAllTimersAsync()
  return { ...of, messages, ids: () => messages.shown.value.messages.map(({ id }) => id) }
}
const event = (type: string, more: object = {}) => ({ type, stream: 'agent-b', payload: null, ...more }) as EventView

describe('the messages of a family', () => {
  it('are read once, and after a new message only what is new', async () => {
    const { state, asked, messages, ids } = await open(3)
    expect([asked, ids().length]).toEqual([[undefined], 3])
    for (let i = 0; i < 50; i++) messages.hear(event('tool_call_end'))
    await vi.runAllTimersAsync()
    expect(asked.length).toBe(1)
    state.count = 5
    for (let i = 0; i < 9; i++) messages.hear(event('message_sent'))
    await vi.runAllTimersAsync()
    expect([asked, ids()]).toEqual([
      [undefined, '3'],
      ['m0', 'm1', 'm2', 'm3', 'm4'],
    ])
  })

  it('name the agents that received a message later', async () => {
    const { messages } = await open(1)
    messages.hear(event('message_received', { payload: { id: 'm0' } }))
    await vi.runAllTimersAsync()
    expect(messages.shown.value.messages.map(({ receivedBy }) => receivedBy)).toEqual([['b']])
  })

  it('are the first ones until a person asks for more, and nothing is read twice', async () => {
    const { asked, messages, ids, state } = await open(3 * PAGE)
    expect([messages.shown.value.isAll, ids().length]).toEqual([false, PAGE])
    state.count += 1
    messages.hear(event('message_sent'))
    await vi.runAllTimersAsync()
    expect(asked.length).toBe(1)
    messages.readMore()
    await vi.runAllTimersAsync()
    expect([messages.shown.value.isAll, ids().length, new Set(ids()).size]).toEqual([
      ...[true, 3 * PAGE + 1, 3 * PAGE + 1],
    ])
    expect(asked).toEqual([undefined, '500', '1000', '1500'])
  })

  it('are read again after an interruption, and stay while the server does not answer', async () => {
    const { asked, messages, ids, state } = await open(2)
    state.isDown = true
    messages.again()
    await vi.runAllTimersAsync()
    expect([messages.fault.value, ids()]).toEqual(['no answer', ['m0', 'm1']])
    state.isDown = false
    state.count = 3
    messages.hear(event('message_sent'))
    await vi.runAllTimersAsync()
    expect([messages.fault.value, ids()]).toEqual(['', ['m0', 'm1', 'm2']])
    expect(asked).toEqual([undefined, undefined, undefined])
  })

  it('are read again after an interruption during a request that fails', async () => {
    const { asked, messages, ids, state } = await open(2)
    state.isDown = true
    state.meanwhile = () => {
      messages.again()
      state.isDown = false
    }
    messages.hear(event('message_sent'))
    await vi.runAllTimersAsync()
    expect([messages.fault.value, ids()]).toEqual(['', ['m0', 'm1']])
    expect(asked).toEqual([undefined, '2', undefined])
  })
})
