import { open, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { refusal } from '../../../http/answers.ts'
import type { Context } from '../../context.ts'
import { EXIT, UsageError } from '../../exit.ts'
import { safe } from '../../output/text.ts'
import { askResult, pieces } from '../../output/whole-result.ts'
import type { Kit } from '../kit.ts'

/** The answer with the whole result of a call. The run's part of the call id may be a prefix. */
async function resultOf(ctx: Context, call: string): Promise<ReadableStream<Uint8Array>> {
  const [, agent, place] = /^([\w.-]+)\.(t\d+\.c\d+)$/.exec(call) ?? []
  if (agent === undefined) throw new UsageError(`"${call}" is no call; the events of a run name its calls`)
  let response = await askResult(ctx, call)
  if (response.status === 404) {
    const id = `${await ctx.runId(agent, 'read')}.${place}`
    if (id !== call) response = await askResult(ctx, id)
  }
  if (!response.ok || !response.body) throw await refusal(response)
  return response.body
}

/** Prints text of a tool, sanitized for a terminal. With JSON output, prints it unchanged. */
async function show(ctx: Context, body: ReadableStream<Uint8Array>): Promise<void> {
  let last = ''
  for await (const text of pieces(body, ctx.format === 'table' ? safe : (text) => text)) {
    last = text.at(-1) ?? last
    await ctx.flow(text)
  }
  if (ctx.format === 'table' && last !== '\n') ctx.data('\n')
}

/** Writes the bytes to a new file that only this user can read. A failure deletes the file. */
async function write(ctx: Context, body: ReadableStream<Uint8Array>, out: string): Promise<void> {
  const path = resolve(ctx.io.cwd, out)
  const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw new UsageError(`--out: ${path} exists already; name a new file`)
    throw new UsageError(`--out: cannot write ${path}: ${error.message}`)
  })
  let size = 0
  try {
    for await (const bytes of body) {
      await file.writeFile(bytes)
      size += bytes.length
    }
    await file.sync()
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
  ctx.note(`${size} bytes in ${path}`)
}

/** `keepup result`: the whole result of one call. */
export function resultCommand(program: Command, kit: Kit): void {
  program
    .command('result')
    .description('the whole result of a call that has ended; as it is with -o json or --out')
    .argument('<call>', "a call's id; its run may be shortened, e.g. 06dw.t3.c0")
    .option('--out <file>', 'write it into this new file')
    .action(
      kit.action<{ out?: string }>(async (ctx, [call], { out }) => {
        const body = await resultOf(ctx, call!)
        await (out === undefined ? show(ctx, body) : write(ctx, body, out))
        return EXIT.done
      }),
    )
}
