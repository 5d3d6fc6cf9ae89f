import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sections } from '../../adapters/models/transcript.ts'
import type { Block, Message } from '../../domain/calls/content.ts'
import { result } from '../support/models/model-request.ts'

const options = process.env.FC_SEED ? { seed: Number(process.env.FC_SEED) } : {}

interface Turn {
  readonly ids: string[]
  readonly said: string
  readonly notes: string[]
}

/** Turns of a run with few different ids, so that they repeat; results shuffled in among what people say. */
const turn: fc.Arbitrary<Turn> = fc.record({
  ids: fc.uniqueArray(fc.constantFrom('a', 'a_2', 'call_0', 'call 0', 'x.y', ''), { maxLength: 3 }),
  said: fc.constantFrom('', 'said'),
  notes: fc.array(fc.constantFrom('note', ' '), { maxLength: 2 }),
})

function conversation(turns: readonly Turn[]): Message[] {
  return turns.flatMap(({ ids, said, notes }, t): Message[] => [
    { role: 'user', content: `input ${t}` },
    {
      role: 'assistant',
      content: [
        ...(said ? [{ type: 'text', text: said }] : []),
        ...ids.map((id): Block => ({ type: 'tool_use', id, name: 'f', input: { t } })),
      ],
    },
    ...notes.map((content): Message => ({ role: 'system', content })),
    ...ids.map((id) => result(id, `${t}:${id}`)).reverse(),
  ])
}

test('ids are unique and legal, and each result keeps its call', () => {
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 8 }), (turns) => {
      const out = sections(conversation(turns))
      const calls = out.flatMap((s) => (s.role === 'assistant' ? s.blocks.filter((b) => b.type === 'tool_use') : []))
      const ids = calls.map((b) => String(b.id))
      expect(new Set(ids).size).toBe(ids.length)
      for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]+$/)
      out.forEach((section, i) => {
        if (section.role !== 'user') return
        const before = out[i - 1]
        const mine = before?.role === 'assistant' ? before.blocks.filter((b) => b.type === 'tool_use') : []
        expect(section.results.map((r) => r.callId).sort()).toEqual(mine.map((b) => String(b.id)).sort())
        for (const { callId, content } of section.results) {
          const call = mine.find((b) => b.id === callId)
          expect(call?.input).toEqual({ t: Number(content.split(':')[0]) })
        }
      })
    }),
    options,
  )
})

test('a longer conversation begins as the shorter one did, so that a provider can cache it', () => {
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 6 }), turn, (turns, more) => {
      const short = sections(conversation(turns))
      const long = sections(conversation([...turns, more]))
      const whole = short.at(-1)?.role === 'user' ? short.slice(0, -1) : short
      expect(long.slice(0, whole.length)).toEqual(whole)
    }),
    options,
  )
})

test('user-side sections never stand side by side', () => {
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 8 }), (turns) => {
      const roles = sections(conversation(turns.filter((t) => t.said !== '' || t.ids.length > 0))).map((s) => s.role)
      expect(roles.join(' ')).not.toMatch(/user user/)
    }),
    options,
  )
})

test('the same id ten thousand times is named in linear time', () => {
  const turns = Array.from({ length: 10_000 }, (): Turn => ({ ids: ['call_0'], said: '', notes: [] }))
  const last = sections(conversation(turns)).findLast((s) => s.role === 'assistant')
  expect(last).toMatchObject({ blocks: [{ id: 'call_0_10000' }] })
})
