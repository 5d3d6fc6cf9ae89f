import { PassThrough } from 'node:stream'
import { Command } from 'commander'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { choose } from '../../../api/cli/ask/choose.ts'
import { kitOf, readAll } from '../../../api/cli/commands/kit.ts'
import type { CliIo, Context } from '../../../api/cli/context.ts'
import { showProgress } from '../../../api/cli/output/progress.ts'

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

  const action = async (name: string, act: (ctx: Context) => unknown, stdin: unknown = {}) => {
    const { written, stream } = terminal()
    const io = { stdout: { write: () => true }, stderr: stream, stdin, env: {}, cwd: '/', program: 'keepup' }
    const kit = kitOf({ io: io as unknown as CliIo, likeIt: () => [], runCli: async () => 0 }, () => {})
    const program = new Command('keepup').option('-o, --output <format>', '', 'table')
    const acts = kit.action(async (ctx) => {
      vi.advanceTimersByTime(3_000)
      await act(ctx)
      return 0
    })
    program.command(name).action(acts)
    await program.parseAsync([name], { from: 'user' })
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

  it('is not shown by commands that drive a run or write all the time', async () => {
    expect(await action('approve', (ctx) => ctx.note('x'))).toEqual(['x\n'])
  })
})
