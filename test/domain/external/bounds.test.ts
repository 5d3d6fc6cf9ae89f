import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type AgentEventBody, EVENT_KINDS } from '../../../domain/external/agent-event.ts'
import { BATCH, Batcher } from '../../../domain/external/batch.ts'
import { BOUNDS, boundEvent, boundFinalText, boundMessage } from '../../../domain/external/bounds.ts'
import { property } from '../../support/property.ts'

// CONTRACTS 13, Event: bounds in UTF-8 bytes.

const size = (text: string) => Buffer.byteLength(text)
/** Texts around the bounds, of characters of 1 to 4 bytes, with halves of pairs and NULs among them. */
const longText = fc
  .tuple(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.constantFrom('a', 'é', '€', '𝄞', '\0', '\ud834'),
    fc.nat(70_000),
  )
  .map(([start, unit, times]) => start + unit.repeat(times))
const events: fc.Arbitrary<AgentEventBody> = fc.record(
  {
    kind: fc.constantFrom(...EVENT_KINDS),
    channel: fc.oneof(
      fc.string({ unit: 'binary' }),
      longText.map((text) => text.slice(0, 130)),
    ),
    text: longText,
    message: longText,
    data: fc.oneof(fc.jsonValue() as fc.Arbitrary<never>, longText as fc.Arbitrary<never>),
  },
  { requiredKeys: ['kind'] },
)
const clean = (text: string) => text.toWellFormed().replaceAll('\0', '\ufffd')

test('every part of an event stays within its bound, well formed, and no text is lost', () => {
  fc.assert(
    fc.property(events, (event) => {
      const bounded = boundEvent(event)
      expect(bounded.length).toBeGreaterThan(0)
      for (const part of bounded) {
        expect(part.kind).toBe(event.kind)
        expect(size(part.channel ?? '')).toBeLessThanOrEqual(BOUNDS.channel)
        expect(size(part.text ?? '')).toBeLessThanOrEqual(BOUNDS.text)
        expect(size(part.message ?? '')).toBeLessThanOrEqual(BOUNDS.message)
        expect(size(JSON.stringify(part.data ?? null))).toBeLessThanOrEqual(BOUNDS.data)
        expect(JSON.stringify(part).isWellFormed()).toBe(true)
        expect((part.text ?? '').isWellFormed()).toBe(true)
      }
      const joined = bounded.map(({ text }) => text ?? '').join('')
      expect(joined).toBe(clean(event.text ?? ''))
      expect(bounded.filter(({ message }) => message !== undefined).length).toBe(event.message === undefined ? 0 : 1)
    }),
    property(60),
  )
})

test('text of exactly the bound stays whole; one byte more is split before the character that goes over it', () => {
  const whole = 'a'.repeat(BOUNDS.text)
  expect(boundEvent({ kind: 'TextOutput', text: whole })).toEqual([{ kind: 'TextOutput', text: whole }])
  const parts = boundEvent({ kind: 'TextOutput', channel: 'c', text: `${whole.slice(1)}€b` })
  expect(parts.map(({ text, channel }) => [channel, text!.length, text!.at(-1)])).toEqual([
    ['c', BOUNDS.text - 1, 'a'],
    ['c', 2, 'b'],
  ])
})

test('a channel over 128 bytes is dropped, not cut', () => {
  expect(boundEvent({ kind: 'Status', channel: 'é'.repeat(64) })[0]).toHaveProperty('channel')
  expect(boundEvent({ kind: 'Status', channel: `${'é'.repeat(64)}a` })).toEqual([{ kind: 'Status' }])
})

test('a message over 4,096 bytes is cut and ends with …(truncated)', () => {
  expect(boundMessage('m'.repeat(4_096))).toBe('m'.repeat(4_096))
  const cut = boundMessage('€'.repeat(2_000))
  expect(cut.endsWith('€…(truncated)')).toBe(true)
  expect(size(cut)).toBeGreaterThan(4_090)
})

test('data over 65,536 bytes of JSON is replaced', () => {
  const bytes = BOUNDS.data - '{"a":""}'.length
  expect(boundEvent({ kind: 'ToolCall', data: { a: 'x'.repeat(bytes) } })[0]!.data).toHaveProperty('a')
  expect(boundEvent({ kind: 'ToolCall', data: { a: 'x'.repeat(bytes + 1) } })).toEqual([
    { kind: 'ToolCall', data: { dropped: { reason: 'oversize' } } },
  ])
})

test('the final text is cut at 65,536 bytes, never inside a character', () => {
  const text = `${'a'.repeat(BOUNDS.finalText - 1)}€`
  expect(boundFinalText(text)).toBe('a'.repeat(BOUNDS.finalText - 1))
})

test('a batch is full at 256 events, 64 KiB or 50 ms, whichever comes first; order and content stay', () => {
  const step = fc.tuple(fc.nat(BATCH.bytes + 10), fc.nat(30))
  const plan = fc.oneof(
    fc.array(step, { maxLength: 60 }),
    fc.array(fc.tuple(fc.constant(1), fc.nat(1)), { maxLength: 600 }),
  )
  fc.assert(
    fc.property(plan, (steps) => {
      const batcher = new Batcher()
      let now = 0
      const taken: { events: AgentEventBody[]; at: number }[] = []
      for (const [bytes, ms] of steps) {
        now += ms
        const event: AgentEventBody = { kind: 'TextOutput', text: 'x'.repeat(bytes) }
        for (const batch of batcher.add(event, now)) taken.push({ events: batch, at: now })
        if (batcher.dueAt !== null) expect(batcher.dueAt - now).toBeLessThanOrEqual(BATCH.ms)
      }
      const rest = batcher.take()
      const all = [...taken.map(({ events: batch }) => batch), ...(rest.length > 0 ? [rest] : [])]
      expect(all.flat().map(({ text }) => text!.length)).toEqual(steps.map(([bytes]) => bytes))
      for (const batch of all) {
        expect(batch.length).toBeGreaterThan(0)
        expect(batch.length).toBeLessThanOrEqual(BATCH.events)
        const bytes = batch.reduce((sum, event) => sum + size(JSON.stringify(event)), 0)
        if (batch.length > 1) expect(bytes).toBeLessThanOrEqual(BATCH.bytes)
      }
    }),
    property(60),
  )
})

test('a batch that is due is taken before the next event joins it', () => {
  const batcher = new Batcher()
  expect(batcher.dueAt).toBeNull()
  expect(batcher.add({ kind: 'Status', message: 'a' }, 100)).toEqual([])
  expect(batcher.dueAt).toBe(150)
  expect(batcher.add({ kind: 'Status', message: 'b' }, 150)).toEqual([[{ kind: 'Status', message: 'a' }]])
  expect(batcher.dueAt).toBe(200)
})
