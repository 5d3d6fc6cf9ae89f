import { Readable, Writable } from 'node:stream'
import type { Command } from 'commander'
import type { AcpDefaults } from '../../acp/agent.ts'
import type { Context, Stream } from '../../context.ts'
import { EXIT } from '../../exit.ts'
import { hardExit } from '../../hard-exit.ts'
import { choice, type Kit, modelId } from '../kit.ts'

const ENDING = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** Serves the protocol on stdin and stdout until the editor closes them or a signal ends this process. */
async function acp(ctx: Context, { model, ...asked }: AcpDefaults): Promise<number> {
  // Load the protocol only when needed: help loads the files of all commands.
  const [{ acpAgent }, { ndJsonStream }] = await Promise.all([
    import('../../acp/agent.ts'),
    import('@agentclientprotocol/sdk'),
  ])
  const { stdin, stdout, cwd } = ctx.io
  // Open the backend before the first message, so that a locked or unusable folder fails at once and not during a
  // prompt.
  await ctx.backend('write')
  const defaults = { ...asked, ...(model !== undefined && { model: modelId(model, cwd) }) }
  const input = Readable.toWeb(stdin) as ReadableStream<Uint8Array>
  const connection = acpAgent(ctx, defaults).connect(ndJsonStream(bytesInto(stdout), input))
  const end = () => connection.close()
  for (const signal of ENDING) process.once(signal, end)
  await connection.closed
  for (const signal of ENDING) process.off(signal, end)
  // Let current work finish, as at every end of a process. An unfinished run continues with the next prompt.
  hardExit(ctx.config.drainMs, EXIT.interrupted, (text) => ctx.note(text))
  await ctx.leave()
  return EXIT.done
}

/** Waits for the reader of the stream. */
const bytesInto = (stream: Stream): WritableStream<Uint8Array> =>
  stream instanceof Writable
    ? (Writable.toWeb(stream) as WritableStream<Uint8Array>)
    : new WritableStream({ write: (bytes) => void stream.write(Buffer.from(bytes).toString('utf8')) })

/** `acp`: keepup as an agent for an editor. */
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
