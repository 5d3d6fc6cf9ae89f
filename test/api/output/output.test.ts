import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { moneyOption } from '../../../api/cli/commands/kit.ts'
import { painter } from '../../../api/cli/output/colours.ts'
import { eventLine } from '../../../api/cli/output/follow-line.ts'
import { table } from '../../../api/cli/output/table.ts'
import { cells, oneLine, safe, truncateToWidth } from '../../../api/cli/output/text.ts'
import { bytes, dollars } from '../../../api/cli/output/units.ts'
import type { EventView } from '../../../api/operations/events/schemas.ts'

const seed = process.env.FC_SEED === undefined ? {} : { seed: Number(process.env.FC_SEED) }
const nasty = fc.string({
  unit: fc.constantFrom(
    'a',
    '\u001b',
    '[',
    '3',
    'm',
    '\r',
    '\n',
    '\u0007',
    '\u009b',
    '\u202e',
    '宽',
    '👩‍👩‍👧',
    'é',
    '\t',
    '\u007f',
  ),
})
const DANGEROUS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

describe('what reaches a terminal', () => {
  it('holds no control character, whatever the text', () => {
    fc.assert(
      fc.property(nasty, (text) => {
        expect(safe(text)).not.toMatch(DANGEROUS)
        expect(oneLine(text)).not.toMatch(/[\n\t]/)
        expect(safe(safe(text))).toBe(safe(text))
      }),
      seed,
    )
    expect(safe('\u001b[31m\u0007\u009b\r\n')).toBe('␛[31m␇<9b>\n')
  })

  it('holds none in the line of any event', () => {
    const types = [
      'tool_call_start',
      'tool_call_end',
      'model_call_end',
      'error',
      'phase_advanced',
      'gate_checked',
      'approval_requested',
      'approval_decided',
      'tool_call_unknown',
      'recovery',
      'workspace_drifted',
      'tool_call_retry',
    ]
    const arbitrary = fc.record({ type: fc.constantFrom(...types), text: nasty, success: fc.boolean() })
    fc.assert(
      fc.property(arbitrary, ({ type, text, success }) => {
        const error = { code: text, message: text }
        const payload = {
          toolName: text,
          arguments: { text },
          servedBy: text,
          to: text,
          gate: text,
          evidence: text,
          decision: text,
          reason: text,
          phase: text,
          changed: [text],
          code: text,
          success,
          error: type === 'error' ? text : error,
          usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
          nanoDollars: null,
        }
        const event = {
          type,
          turn: 1,
          toolCallId: text,
          actor: { kind: 'user', id: text },
          payload,
        } as unknown as EventView
        expect(eventLine(event, (_, t) => t) ?? '').not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/)
      }),
      seed,
    )
  })

  it('is as wide as it says, and cut only between characters', () => {
    fc.assert(
      fc.property(nasty, fc.integer({ min: 1, max: 12 }), (text, width) => {
        const line = oneLine(text)
        expect(cells(truncateToWidth(line, width))).toBeLessThanOrEqual(width)
        if (cells(line) <= width) expect(truncateToWidth(line, width)).toBe(line)
      }),
      seed,
    )
    expect(truncateToWidth('宽宽宽', 5)).toBe('宽宽…')
    expect(truncateToWidth('👩‍👩‍👧👩‍👩‍👧', 3)).toBe('👩‍👩‍👧…')
  })

  it.each([200, 100, 80, 60, 40, 20, 12])('fits a terminal of %i cells, whatever its columns hold', (width) => {
    const row = { id: 'x'.repeat(23), wide: '宽'.repeat(30), at: '2026-11-01T00:00:00.000Z', task: 'y'.repeat(90) }
    const columns = [
      { title: 'RUN', of: (r: typeof row) => r.id },
      { title: 'WIDE', of: (r: typeof row) => r.wide },
      { title: 'UPDATED', of: (r: typeof row) => r.at, optional: true },
      { title: 'TASK', of: (r: typeof row) => r.task, flexible: true },
    ]
    for (const line of table([row, row], columns, width)) expect(cells(line)).toBeLessThanOrEqual(width)
    expect(table([row], columns, 200).join('')).toContain('UPDATED')
    expect(table([row], columns, 80).join('')).not.toContain('UPDATED')
    expect(table([row], columns.slice(0, 1), 80)[1]).toBe(row.id)
  })

  it('is aligned by cells and cut to the terminal', () => {
    const columns = [
      { title: 'NAME', of: (r: string[]) => r[0]! },
      { title: 'N', of: (r: string[]) => r[1]!, side: 'right' as const },
      { title: 'TEXT', of: (r: string[]) => r[2]!, flexible: true },
    ]
    const rows = [
      ['宽', '1', 'short'],
      ['abc', '100', 'a text that is far too long for the terminal'],
    ]
    const lines = table(rows, columns, 30)
    expect(lines).toEqual(['NAME    N  TEXT', '宽      1  short', 'abc   100  a text that is far…'])
  })

  it('is coloured only on a terminal, and not where NO_COLOR is set', () => {
    expect(painter({ isTTY: true }, {})('red', 'x')).toBe('\u001b[31mx\u001b[39m')
    for (const [tty, env] of [
      [false, {}],
      [true, { NO_COLOR: '1' }],
      [true, { TERM: 'dumb' }],
    ] as const) {
      expect(painter({ isTTY: tty }, env)('red', 'x')).toBe('x')
    }
  })

  it('tells money and bytes', () => {
    expect([dollars(1_500_000_000), dollars(1500), dollars(0), dollars(null)]).toEqual([
      '$1.5000',
      '$0.000002',
      '$0.0000',
      '?',
    ])
    expect([bytes(5), bytes(2048), bytes(5 * 1024 ** 3), bytes(null)]).toEqual(['5 B', '2.0 KiB', '5.0 GiB', '?'])
    const budget = moneyOption('--budget-usd')
    expect([budget('1.5'), budget('$0.000000001')]).toEqual([1_500_000_000, 1])
    for (const text of ['1e3', '0.0000000001', '0', '-1', '99999999'])
      expect(() => budget(text), text).toThrow(/^--budget-usd: .*dollars/)
  })
})
