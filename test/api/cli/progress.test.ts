import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { Command } from 'commander'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { choose } from '../../../api/cli/ask/choose.ts'
import { kitOf, readAll } from '../../../api/cli/commands/kit.ts'
import { measured } from '../../../api/cli/commands/measured.ts'
import { withProgress } from '../../../api/cli/commands/read-file.ts'
import type { CliIo, Context } from '../../../api/cli/context.ts'
import { type Share, shareText, showProgress } from '../../../api/cli/output/progress.ts'
import { bytes } from '../../../api/cli/output/units.ts'
import { tempFolder } from '../../support/folders.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const terminal = (isTTY = true) => {
  const written: string[] = []
  return { written, stream: { isTTY, write: (text: string) => written.push(text) } }
}

describe('the line of a command at work', () => {
  it('appears after a second, counts, and is removed', () => {
    const { written, stream } = terminal()
    const progress = showProgress(stream, 'verify')
    vi.advanceTimersByTime(900)
    expect(written).toEqual([])
    vi.advanceTimersByTime(2_200)
    expect(written.at(-1)).toMatch(/^\r\u001b\[K[|/\\-] verify: 3 s$/)
    progress.stop()
    expect(written.at(-1)).toBe('\r\u001b[K')
    const { length } = written
    vi.advanceTimersByTime(5_000)
    progress.stop()
    expect(written.length).toBe(length)
  })

  it('is not written where stderr is no terminal', () => {
    const { written, stream } = terminal(false)
    showProgress(stream, 'verify')
    vi.advanceTimersByTime(5_000)
    expect(written).toEqual([])
  })

  it('says how far the command is, and comes back after output', () => {
    const { written, stream } = terminal()
    const progress = showProgress(stream, 'verify')
    progress.at({ done: 12, total: 340, unit: 'streams' })
    vi.advanceTimersByTime(2_000)
    expect(written.at(-1)).toMatch(/verify: 12 of 340 streams \(3 %\), 2 s$/)
    progress.clear()
    expect(written.at(-1)).toBe('\r\u001b[K')
    progress.at({ done: 340, total: 340, unit: 'streams' })
    vi.advanceTimersByTime(200)
    expect(written.at(-1)).toContain('340 of 340 streams (100 %)')
    progress.stop()
    const { length } = written
    vi.advanceTimersByTime(5_000)
    expect(written.length).toBe(length)
  })

  it.each<[Share, string]>([
    [{ done: 1, total: 3, unit: 'events' }, '1 of 3 events (33 %)'],
    [{ done: 2048, total: 4096, unit: '', amount: bytes }, '2.0 KiB of 4.0 KiB (50 %)'],
    [{ done: 7, total: null, unit: 'events' }, '7 events'],
    [{ done: 9, total: 8, unit: 'events' }, '9 events'],
    [{ done: 0, total: 0, unit: 'events' }, '0 of 0 events (100 %)'],
  ])('names %j as "%s"', (share, text) => {
    expect(shareText(share)).toBe(text)
  })

  it('looks at work that another process does, until the work ends', async () => {
    const told: Share[] = []
    const progress = { at: (share: Share) => void told.push(share), clear() {}, stop() {} }
    const work = Promise.withResolvers<string>()
    let events = 0
    const far = async () => (++events === 1 ? null : { done: events, total: 9, unit: 'events' })
    const ended = measured({ progress }, far, work.promise)
    await vi.advanceTimersByTimeAsync(3_500)
    work.resolve('done')
    expect(await ended).toBe('done')
    expect(told.map(({ done }) => done)).toEqual([2, 3])
    await expect(measured({ progress }, far, Promise.reject(new Error('full')))).rejects.toThrow('full')
  })

  it('counts the bytes of a file that is read', async () => {
    const told: Share[] = []
    const progress = { at: (share: Share) => void told.push(share), clear() {}, stop() {} }
    const path = join(tempFolder(), 'file')
    writeFileSync(path, 'x'.repeat(100_000))
    let size = 0
    for await (const piece of withProgress({ progress }, path)) size += piece.length
    expect([size, told.at(-1)]).toMatchObject([100_000, { done: 100_000, total: 100_000 }])
    expect(told.length).toBeGreaterThan(1)
  })

  const action = async (
    name: string,
    act: (ctx: Context) => unknown,
    stdin: unknown = {},
    flags: readonly string[] = [],
  ) => {
    const { written, stream } = terminal()
    const io = { stdout: { write: () => true }, stderr: stream, stdin, env: {}, cwd: '/', program: 'keepup' }
    const kit = kitOf({ io: io as unknown as CliIo, likeIt: () => [], runCli: async () => 0 }, () => {})
    const program = new Command('keepup').option('-o, --output <format>', '', 'table').option('-q, --quiet')
    const acts = kit.action(async (ctx) => {
      vi.advanceTimersByTime(3_000)
      await act(ctx)
      return 0
    })
    program.command(name).action(acts)
    await program.parseAsync([...flags, name], { from: 'user' })
    return written
  }

  it('is removed before the first output of the command, and at its end', async () => {
    for (const write of [(ctx: Context) => ctx.note('x'), (ctx: Context) => ctx.data('x'), () => {}]) {
      const written = await action('verify', write)
      expect(written.filter((text) => text.includes('verify: ')).length).toBeGreaterThan(5)
      expect(written.filter((text) => text === '\r\u001b[K')).toHaveLength(1)
      expect(written.findLastIndex((text) => text.includes('verify: '))).toBeLessThan(written.indexOf('\r\u001b[K'))
    }
  })

  it('is removed before a question, and before standard input is read', async () => {
    const ask = (ctx: Context) => {
      const asked = choose(ctx, { question: '?', choices: [], open: 'nothing' }, AbortSignal.abort())
      vi.advanceTimersByTime(5_000)
      return asked
    }
    const read = (ctx: Context) => {
      const all = readAll(ctx)
      vi.advanceTimersByTime(5_000)
      return all
    }
    for (const act of [ask, read]) {
      const written = await action('erase', act, new PassThrough().end())
      expect(written.at(-2)).toContain('erase: 3 s')
      expect(written.at(-1)).toBe('\r\u001b[K')
    }
  })

  it.each([['--quiet'], ['-o', 'json'], ['-o', 'jsonl']])('is not shown with %s %s', async (...flags) => {
    const given = flags.filter((flag) => flag !== undefined)
    expect(await action('verify', () => {}, {}, given)).toEqual([])
    expect((await action('verify', () => {})).length).toBeGreaterThan(5)
  })

  it('is not shown by commands that drive a run or write all the time', async () => {
    expect(await action('approve', (ctx) => ctx.note('x'))).toEqual(['x\n'])
  })
})
