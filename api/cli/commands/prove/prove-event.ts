import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { take } from '../../../http/answers.ts'
import { CliError, EXIT, UsageError } from '../../exit.ts'
import type { Kit } from '../kit.ts'

const EVENT = /^(.+)@(\d{1,15})$/

/** The command `prove`. */
export function proveCommand(program: Command, kit: Kit): void {
  program
    .command('prove')
    .description('write the proof that an event is in the log, as a .tlog-proof file that anybody can check')
    .argument('<event>', 'a stream and a revision, such as agent-a1@0')
    .option('--to <path>', 'the file; absent: stdout')
    .action(
      kit.action<{ to?: string }>(async (ctx, [event = ''], { to }) => {
        const [, stream, revision] = EVENT.exec(event) ?? []
        if (stream === undefined || revision === undefined)
          throw new UsageError(`"${event}" names no event; name a stream and a revision, such as agent-a1@0`)
        const client = await ctx.client('read')
        const proof = await take(
          client.v1.streams[':stream'].events[':revision'].proof.$get({ param: { stream, revision } }),
        )
        if (to !== undefined) {
          const path = resolve(ctx.io.cwd, to)
          try {
            writeFileSync(path, proof.file, { flag: 'wx' })
          } catch (error) {
            throw new CliError(
              `${path} cannot be written (${(error as Error).message}); name a new file in a folder of yours`,
            )
          }
        }
        ctx.show(proof, () => [
          to === undefined ? proof.file.trimEnd() : `${event} is event ${proof.index + 1} of ${proof.size}: ${to}`,
        ])
        return EXIT.done
      }),
    )
}
