import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type KeepUp, openKeepUp } from '../../../api/index.ts'
import { defineTool, z } from '../../../api/library/tool-kit.ts'
import { freshFolders } from '../../support/folders.ts'
import { inProcess } from '../support/cli.ts'
import { appOver, bodyOf } from '../support/http.ts'

// Whole results, as people read them over HTTP and on the command line.

const LONG = Array.from({ length: 40_000 }, (_, n) => `line ${n} é \u001b[31m\n`).join('')
const big = defineTool({
  name: 'my:big',
  description: 'Gives a long text, or fails.',
  parameters: z.strictObject({ fails: z.boolean().default(false) }),
  effect: 'pure',
  timeLimitMs: 10_000,
  run: async ({ fails }) => {
    if (fails) throw new Error('no text today')
    return { content: LONG }
  },
})
const says = (fails: boolean) => ({ calls: [{ tool: 'my__big', arguments: { fails } }] })
const done = { calls: [{ tool: 'complete_task', arguments: { summary: 'done' } }] }
const scripts = { big: { script: 1 as const, turns: [says(false), says(true), done] } }

const folders = freshFolders()
let keepup: KeepUp
let http: ReturnType<typeof appOver>
let runId = ''
const call = (turn: number) => `${runId}.t${turn}.c0`
const get = (id: string, range?: string) =>
  http.ask('GET', `/v1/results/${id}`, range === undefined ? {} : { headers: { range } })
const blobs = () =>
  readdirSync(folders.data, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.includes(runId) && /[0-9a-f]{64}$/.test(path))
    .map((path) => join(folders.data, path))

beforeAll(async () => {
  keepup = await openKeepUp({ data: folders.data, scripts, tools: [big], by: 'ada' })
  runId = (await keepup.start({ task: 'go', model: 'scripted:big' })).runId
  expect(await keepup.drive(runId)).toMatchObject({ end: 'done' })
  http = appOver(keepup.services, 'scripted:big')
})
afterAll(async () => {
  await keepup.close()
  folders.remove()
})

describe('GET /v1/results/{toolCallId}', () => {
  it('gives the whole, as text', async () => {
    const response = await get(call(1))
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
    expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(LONG)))
    expect(await response.text()).toBe(LONG)
    expect(await (await get(call(2))).text()).toContain('no text today')
  })

  it('gives a range of it', async () => {
    const bytes = Buffer.from(LONG)
    for (const [range, from, to] of [
      ['bytes=100-199', 100, 200],
      ['bytes=-50', bytes.length - 50, bytes.length],
      [`bytes=${bytes.length - 5}-`, bytes.length - 5, bytes.length],
    ] as const) {
      const response = await get(call(1), range)
      expect(response.status).toBe(206)
      expect(response.headers.get('content-range')).toBe(`bytes ${from}-${to - 1}/${bytes.length}`)
      expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes.subarray(from, to))
    }
    expect(await bodyOf(await get(call(1), `bytes=${bytes.length}-`))).toMatchObject({ status: 416 })
    expect((await get(call(1), 'lines=1-2')).status).toBe(200)
  })

  it('knows no other call', async () => {
    for (const id of ['nothing', `${runId}.t9.c0`, 'other.t1.c0']) expect((await get(id)).status).toBe(404)
  })

  it('counts its bytes to the run', async () => {
    const { run } = await bodyOf<{ run: { bytes: number } }>(await http.ask('GET', `/v1/runs/${runId}`))
    expect(run.bytes).toBeGreaterThan(Buffer.byteLength(LONG))
  })
})

describe('keepup result', () => {
  const result = (...args: string[]) => inProcess(['--data', folders.data, ...args])

  it('shows the whole safely, gives it as it is as data, or writes it into a new file', async () => {
    await keepup.close()
    const shown = await result('result', `${runId.slice(0, 20)}.t1.c0`)
    expect([shown.code, shown.err]).toEqual([0, ''])
    expect(shown.out).toBe(LONG.replaceAll('\u001b', '␛'))
    expect((await result('-o', 'json', 'result', call(1))).out).toBe(LONG)
    const out = join(folders.base, 'out.txt')
    expect((await result('result', call(1), '--out', out)).code).toBe(0)
    expect(readFileSync(out, 'utf8')).toBe(LONG)
    const again = await result('result', call(1), '--out', out)
    expect([again.code, again.err]).toEqual([2, expect.stringContaining('exists already')])
    expect((await result('result', 'nothing')).code).toBe(2)
    expect((await result('result', `${runId}.t9.c0`)).code).toBe(2)
  })

  it('is in an export, which is proved with it', async () => {
    const { out } = await result('export', runId)
    const file = join(folders.base, 'run.jsonl')
    writeFileSync(file, out)
    expect(await result('verify', '--file', file)).toMatchObject({ code: 0 })
    const lines = out.split('\n')
    const at = lines.findIndex((line) => line.startsWith('{"attachment":'))
    expect(at).toBeGreaterThan(0)
    const { attachment, bytes } = JSON.parse(lines[at]!) as { attachment: string; bytes: string }
    const altered = Buffer.from(bytes, 'base64')
    altered[5]! ^= 1
    const other = JSON.stringify({ attachment, bytes: altered.toString('base64') })
    for (const wrong of [lines.toSpliced(at, 1), lines.toSpliced(at, 1, other)]) {
      writeFileSync(file, wrong.join('\n'))
      const { code, out: told } = await result('-o', 'json', 'verify', '--file', file)
      expect([code, told]).toEqual([5, expect.stringContaining('"BLOB"')])
    }
  })

  it('never shows what was altered as true', async () => {
    const [path] = blobs()
    const bytes = readFileSync(path!)
    bytes[9]! ^= 1
    writeFileSync(path!, bytes)
    const altered = await result('result', call(1))
    expect([altered.code, altered.out, altered.err]).toEqual([1, '', expect.stringContaining('altered')])
    expect((await result('verify', runId)).code).toBe(5)
    bytes[9]! ^= 1
    writeFileSync(path!, bytes)
  })

  it('says of an erased one that it was erased, and no file of it is left', async () => {
    expect((await result('erase', runId, '--all', '--reason', 'asked', '--yes')).code).toBe(0)
    const erased = await result('result', call(1))
    expect([erased.code, erased.err]).toEqual([1, expect.stringContaining('was erased')])
    expect(blobs()).toEqual([])
  })
})
