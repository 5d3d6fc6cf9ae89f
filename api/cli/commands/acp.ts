import { Readable, Writable } from 'node:stream'
import type { Command } from 'commander'
import type { AcpDefaults } from '../acp/agent.ts'
import type { Context, Stream } from '../context.ts'
import { EXIT } from '../exit.ts'
import { hardExit } from '../hard-exit.ts'
import { choice, type Kit, modelId } from './kit.ts'

const ENDING = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** Speaks the protocol on the standard streams until the editor closes them, or this process is told to end. */
async function acp(ctx: Context, { model, ...asked }: AcpDefaults): Promise<number> {
  // Help, which names all commands, does not load the protocol.
  const [{ acpAgent }, { ndJsonStream }] = await Promise.all([
    import('../acp/agent.ts'),
    import('@agentclientprotocol/sdk'),
  ])
  const { stdin, stdout, cwd } = ctx.io
  // Before the first message: a folder that cannot be had is told at once, and not in the middle of a prompt.
  await ctx.backend('write')
  const defaults = { ...asked, ...(model !== undefined && { model: modelId(model, cwd) }) }
  const input = Readable.toWeb(stdin) as ReadableStream<Uint8Array>
  const connection = acpAgent(ctx, defaults).connect(ndJsonStream(bytesInto(stdout), input))
  const end = () => connection.close()
  for (const signal of ENDING) process.once(signal, end)
  await connection.closed
  for (const signal of ENDING) process.off(signal, end)
  // What is at work may end, as on every end of a process; a run that did not goes on with the next prompt.
  hardExit(ctx.config.drainMs, EXIT.interrupted, (text) => ctx.note(text))
  await ctx.leave()
  return EXIT.done
}

/** As fast as its reader takes it. */
const bytesInto = (stream: Stream): WritableStream<Uint8Array> =>
  stream instanceof Writable
    ? (Writable.toWeb(stream) as WritableStream<Uint8Array>)
    : new WritableStream({ write: (bytes) => void stream.write(Buffer.from(bytes).toString('utf8')) })

/** `acp`: keepup as an agent of an editor. */
export function acpCommand(program: Command, kit: Kit): void {
  program
    .command('acp')
    .description('be the agent of an editor that speaks the Agent Client Protocol, on the standard streams')
    .option('--role <name>', 'the procedure that its runs follow (default: none)')
    .option('--model <id>', 'the model to ask for')
    .option(
      '--mode <mode>',
      'the mode that sessions begin with: interactive asks before files are written and commands run',
      choice('--mode', ['interactive', 'batch']),
      'interactive',
    )
    .action(
      kit.action<AcpDefaults & Record<string, unknown>>((ctx, _, { role, model, mode }) =>
        acp(ctx, { mode, ...(role !== undefined && { role }), ...(model !== undefined && { model }) }),
      ),
    )
}
