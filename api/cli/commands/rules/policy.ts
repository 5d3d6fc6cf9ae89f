import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { Policy } from '../../../../domain/calls/policy-schema.ts'
import { firstIssue } from '../../../../domain/log/issues.ts'
import { take } from '../../../http/answers.ts'
import type { Context } from '../../context.ts'
import { EXIT, UsageError } from '../../exit.ts'
import { oneLine } from '../../output/text.ts'
import { type Kit, readAll } from '../kit.ts'

interface CheckOptions {
  runs: string[]
  role?: string
}

/** Reads a policy from a file. Throws a UsageError. */
async function policyIn(ctx: Context, file: string): Promise<Policy> {
  const path = resolve(ctx.io.cwd, file)
  const reading = file === '-' ? readAll(ctx) : readFile(path, 'utf8')
  const text = await reading.catch((error: Error) => {
    throw new UsageError(`cannot read ${path}: ${error.message}`)
  })
  const read = Policy.safeParse(parsed(file, text))
  if (read.success) return read.data
  throw new UsageError(`${file}: ${firstIssue(read.error, 'policy')}`)
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${file} is not JSON: ${(error as Error).message}`)
  }
}

async function check(ctx: Context, file: string | undefined, { runs, role }: CheckOptions): Promise<number> {
  if (file === undefined && role === undefined) throw new UsageError('name a file with a policy, or --role, or both')
  const json = {
    runs,
    ...(file === undefined ? {} : { policy: await policyIn(ctx, file) }),
    ...(role === undefined ? {} : { role }),
  }
  const client = await ctx.client('read')
  const checked = await take(client.v1.policy.check.$post({ json }))
  for (const run of checked.ungoverned) ctx.note(`${run} is a run of another agent; no policy sees its calls`)
  if (checked.unknown.length > 0)
    ctx.note(`no tool of these runs is called ${checked.unknown.map(oneLine).join(', ')}; look for a slip of the pen`)
  if (ctx.isJson) ctx.show(checked, () => [])
  else
    ctx.list(checked.found, [
      { title: 'CALL', of: (one) => one.toolCallId },
      { title: 'TOOL', of: (one) => one.toolName },
      { title: 'WOULD', of: (one) => (one.would === 'refuse' ? (one.code ?? 'refuse') : one.would) },
      { title: 'RECORDED', of: ({ recorded }) => `${recorded.end ?? 'open'}${recorded.asked ? ', asked' : ''}` },
      { title: 'WHY', of: (one) => one.reason, flexible: true },
    ])
  ctx.note(`${checked.calls} recorded calls; nothing was performed`)
  return EXIT.done
}

export function policyCommand(program: Command, kit: Kit): void {
  program
    .command('policy')
    .description('other rules for recorded runs')
    .command('check')
    .description('which recorded calls another policy or role would have refused or asked about')
    .argument('[policy]', 'a file with a policy as JSON, as a start takes it; "-": standard input')
    .requiredOption('--runs <run...>', 'the runs')
    .option('--role <name>', 'a role instead of that of the runs')
    .action(kit.action<CheckOptions>((ctx, [file], options) => check(ctx, file, options)))
}
