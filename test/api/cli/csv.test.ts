import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliFolder } from '../support/cli.ts'

/** Parses CSV of RFC 4180: an own parser, so that the writer is not checked by itself. */
function parse(text: string): string[][] {
  const rows: string[][] = []
  let at = 0
  while (at < text.length) {
    const row: string[] = []
    for (;;) {
      let cell = ''
      if (text[at] === '"') {
        for (at++; text[at] !== '"' || text[at + 1] === '"'; at++) {
          if (text[at] === '"') at++
          cell += text[at]
        }
        at++
      } else while (at < text.length && !/[,\r]/.test(text[at]!)) cell += text[at++]
      row.push(cell)
      if (text[at] !== ',') break
      at++
    }
    if (text.slice(at, at + 2) !== '\r\n') throw new Error(`no end of a row at ${at}`)
    at += 2
    rows.push(row)
  }
  return rows
}

const records = (text: string): Record<string, string>[] => {
  const [head = [], ...rows] = parse(text)
  return rows.map((row) => {
    if (row.length !== head.length) throw new Error('a row has other columns than the header')
    return Object.fromEntries(row.map((cell, i) => [head[i]!, cell]))
  })
}

describe('-o csv', () => {
  const folder = cliFolder()
  const task = 'Say "a, b"\nand\r\nstop'
  let runId = ''
  beforeAll(async () => {
    for (const one of [task, 'second'])
      runId = JSON.parse((await folder.look('-o', 'json', 'run', one, '--no-workspace', '--no-drive')).out).runId
  })
  afterAll(() => folder.clean())

  it('has the members of a list as columns, nested ones as JSON', async () => {
    const { code, out } = await folder.look('-o', 'csv', 'runs', 'list')
    const json = JSON.parse((await folder.look('-o', 'json', 'runs', 'list')).out) as Record<string, unknown>[]
    const rows = records(out)
    expect(code).toBe(0)
    expect(rows.map((row) => row.task)).toEqual(['second', task])
    for (const [i, row] of rows.entries()) {
      expect(Object.keys(row)).toEqual(Object.keys(json[i]!))
      for (const [name, value] of Object.entries(json[i]!))
        expect([name, row[name]]).toEqual([
          name,
          value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value),
        ])
    }
  })

  it('has one header for a stream of events, and the same columns for each', async () => {
    const rows = records((await folder.look('events', runId, '-o', 'csv')).out)
    const events = JSON.parse((await folder.look('events', runId, '-o', 'json')).out) as { id: string; type: string }[]
    expect(rows.map(({ id, type }) => ({ id, type }))).toEqual(events.map(({ id, type }) => ({ id, type })))
    expect(JSON.parse(rows[0]!.payload!)).toMatchObject({ spec: {} })
    const tail = await folder.look('tail', '--no-follow', '--run', runId, '-o', 'csv')
    expect(records(tail.out)).toEqual(rows)
  })

  it('is one row for one record', async () => {
    const [row, ...more] = records((await folder.look('runs', 'show', runId, '-o', 'csv')).out)
    expect(JSON.parse(row!.run!)).toMatchObject({ runId, task: 'second' })
    expect(more).toEqual([])
  })

  it('has the rows of sums, and no notes among them', async () => {
    expect(records((await folder.look('cost', '-o', 'csv')).out).at(-1)).toMatchObject({ name: 'total' })
    expect(records((await folder.look('tree', runId, '-o', 'csv')).out)).toMatchObject([{ agentId: runId }])
  })

  it('is refused where nothing has columns, and errors stay lines', async () => {
    const { code, out, err } = await folder.look('transcript', runId, '-o', 'csv')
    expect([code, out, err]).toEqual([
      2,
      '',
      expect.stringMatching(/^keepup: -o csv: a transcript has no columns; use/),
    ])
  })
})
