import fc from 'fast-check'
import { expect, test } from 'vitest'
import { agent } from '../../domain/agent/decide/aggregate.ts'
import { type AgentState, callsOf, isFinished } from '../../domain/agent/state/state.ts'
import { undelivered } from '../../domain/courier/ledger.ts'
import { messageId } from '../../domain/log/ids.ts'
import { law } from '../support/laws.ts'
import type { Agents } from '../support/tree/agents.ts'
import { type Chat, chatArbitrary, chatModel, chatSpec } from '../support/tree/chatter.ts'
import { expectDelivered } from '../support/tree/traffic.ts'
import { playWith, ROOT, roughSchedules } from '../support/tree/walk.ts'

// Laws of messages (CONTRACTS 4): each is delivered once and in order per pair, or bounced with a reason; no agent waits
// in a circle; what a state holds of messages stays bounded. A message that bounced is brought again too, by a courier that
// does not know of it.

const delivered = ({ streams }: Agents) =>
  expectDelivered(new Map([...streams].map(([agentId, { events }]) => [agentId, events]))).sent

/** No circle of agents in which each waits for the answer of the next. */
function expectNoCircle(agents: Agents): void {
  const waits = new Map<string, string[]>()
  for (const [agentId, { state, events }] of agents.streams) {
    const taken = (to: string, request: number) =>
      agents.streams.get(to)?.state.bus.requests.some(({ id }) => id === messageId(agentId, { revision: request })) ??
      false
    const on = callsOf(state).flatMap(({ stage }) => {
      if (stage.at === 'child') return [stage.childId]
      if (stage.at !== 'reply') return []
      const asked = events[stage.request]
      // A request on its way may still bounce.
      return asked?.type === 'message_sent' && taken(asked.body.to, stage.request) ? [asked.body.to] : []
    })
    waits.set(agentId, on)
  }
  const reaches = (from: string, to: string, seen: Set<string>): boolean =>
    (waits.get(from) ?? []).some((next) => {
      if (next === to) return true
      if (seen.has(next)) return false
      seen.add(next)
      return reaches(next, to, seen)
    })
  for (const agentId of waits.keys())
    expect(reaches(agentId, agentId, new Set()), `${agentId} waits for itself`).toBe(false)
}

const run = (chat: Chat, schedule: Parameters<typeof playWith>[2], see?: Parameters<typeof playWith>[3]) =>
  playWith(chatModel(ROOT, chat), chatSpec(), schedule, see)

test('each message is delivered once and in order per pair, or bounced, whatever dies', async () => {
  await law(fc.tuple(chatArbitrary(4, 4, 3), roughSchedules), 50, ([chat, schedule]) => {
    const agents = run(chat, schedule, (all, event) => {
      if (event.type === 'message_received' && event.body.type === 'request') expectNoCircle(all)
    })
    delivered(agents)
    for (const { state, transcript, events } of agents.streams.values()) {
      const folded = events.reduce<AgentState | null>((before, event) => agent.evolve(before, event), null)
      expect(agent.digest(folded!), 'the stored events fold to the state that was decided').toBe(agent.digest(state))
      expect(isFinished(state)).toBe(true)
      expect(undelivered(state)).toEqual([])
      expect(state.messages.count).toBe(transcript.messages.length)
    }
  })
})

/** Says all of it again, until there is enough. */
const long = (chat: Chat): Chat => {
  const times = Math.ceil(1_200 / chat.flat(2).filter(({ does }) => does === 'send').length)
  return chat.map((turns) => Array.from({ length: times }, () => turns).flat())
}

test('1,000 messages between 20 agents leave states that stay small', async () => {
  const chat = chatArbitrary(19, 14, 8)
    .filter((talk) => talk.flat(2).filter(({ does }) => does === 'send').length > 40)
    .map(long)
  await law(fc.tuple(chat, roughSchedules), 1, ([talk, schedule]) => {
    let widest = 0
    const agents = run(talk, schedule, (_, __, { courier, bus }) => {
      widest = Math.max(widest, Object.keys(courier.owed).length + Object.keys(courier.accepted).length)
      expect(bus.requests.length).toBeLessThanOrEqual(100)
    })
    const spoken = talk.flat(2).filter(({ does }) => does === 'send' || does === 'request').length
    expect(delivered(agents)).toBeGreaterThanOrEqual(spoken)
    expect(spoken).toBeGreaterThan(1_000)
    // A number or two for each other agent, however many messages there were.
    expect(widest).toBeLessThanOrEqual(2 * 21)
  })
})
