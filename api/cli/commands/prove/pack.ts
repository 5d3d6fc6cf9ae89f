import { hash } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { ED25519, parseVkey } from '../../../../domain/log/proof/note.ts'
import { policyOfKeys, type VerifiedPack } from '../../../../domain/log/proof/pack-verifier.ts'
import { ProofError } from '../../../../domain/log/proof/proof-error.ts'
import { counted } from '../../../../projections/engine/text.ts'
import { refusal } from '../../../http/answers.ts'
import { checkPack } from '../../../operations/pack/check-pack.ts'
import { NotATar } from '../../../operations/pack/tar.ts'
import { verifier } from '../../../operations/pack/verifier.ts'
import type { Context } from '../../context.ts'
import { CliError, EXIT, UsageError } from '../../exit.ts'
import { bytes } from '../../output/units.ts'
import type { Kit } from '../kit.ts'
import { withProgress } from '../read-file.ts'

interface PackOptions {
  to?: string
  since?: string
  until?: string
  bodies?: boolean
  check?: string
  verifier?: string
  vkey?: string[]
  policy?: string
}

/** The command `pack`. */
export function packCommand(program: Command, kit: Kit): void {
  program
    .command('pack')
    .description('write runs with their proofs, tables and story into one file that anybody can verify, or check one')
    .argument('[runs...]', 'absent: everything that the log holds')
    .option('--to <file>', 'the new file, a tar')
    .option('--since <time>', 'only events from this time on, such as 2026-11-01')
    .option('--until <time>', 'only events before this time')
    .option('--no-bodies', 'withhold the bodies of events, and everything made from them')
    .option('--check <file>', 'verify a pack; needs no data folder')
    .option('--verifier <file>', 'write verify.py of this program, for checks with Python alone')
    .option('--vkey <key...>', 'with --check: trust these keys of logs instead of those in the pack')
    .option('--policy <file>', 'with --check: trust the keys of this policy (c2sp.org/tlog-policy)')
    .action(
      kit.action<PackOptions>(async (ctx, args, options) => {
        // Commander passes several arguments as one list.
        const runs = args.flat()
        const { to, check, verifier } = options
        if ([to, check, verifier].filter((one) => one !== undefined).length !== 1)
          throw new UsageError('pack: name the new file with --to FILE, a pack with --check FILE, or --verifier FILE')
        if (to !== undefined) return write(ctx, runs, to, options)
        if (runs.length > 0) throw new UsageError('--check and --verifier: they concern no run; name none')
        return check === undefined ? writeVerifier(ctx, verifier!) : verify(ctx, check, options)
      }),
    )
}

async function write(ctx: Context, runs: readonly string[], to: string, o: PackOptions): Promise<number> {
  const query = new URLSearchParams()
  for (const run of runs) query.append('run', await ctx.runId(run, 'read'))
  for (const name of ['since', 'until'] as const) {
    const time = o[name]
    if (time === undefined) continue
    if (Number.isNaN(Date.parse(time)))
      throw new UsageError(`--${name}: "${time}" is no time; write it as 2026-11-01 or 2026-11-01T08:00:00Z`)
    query.set(name, new Date(time).toISOString())
  }
  if (o.bodies === false) query.set('bodies', 'false')
  const path = resolve(ctx.io.cwd, to)
  const file = await open(path, 'wx', 0o600).catch((error: Error) => {
    throw new CliError(`${path} cannot be written (${error.message}); name a new file in a folder of yours`)
  })
  let size = 0
  try {
    const response = await (await ctx.backend('read')).fetch(new Request(`http://localhost/v1/packs?${query}`))
    if (!response.ok || !response.body) throw await refusal(response)
    for await (const piece of response.body) {
      await file.write(piece)
      size += piece.length
      ctx.progress?.at({ done: size, total: null, unit: '', amount: bytes })
    }
  } catch (error) {
    rmSync(path)
    throw error
  } finally {
    await file.close()
  }
  ctx.show({ file: path, bytes: size }, () => [
    `${to}: ${bytes(size)}; ${ctx.command('pack', '--check', to)} checks it`,
  ])
  return EXIT.done
}

function writeVerifier(ctx: Context, to: string): number {
  const [path, program] = [resolve(ctx.io.cwd, to), verifier()]
  try {
    writeFileSync(path, program, { flag: 'wx', mode: 0o644 })
  } catch (error) {
    throw new CliError(`${path} cannot be written (${(error as Error).message}); name a new file in a folder of yours`)
  }
  const sha256 = hash('sha256', program)
  ctx.show({ file: path, sha256 }, () => [`${to}: SHA-256 ${sha256}`])
  return EXIT.done
}

async function verify(ctx: Context, file: string, { vkey, policy }: PackOptions): Promise<number> {
  if (vkey !== undefined && policy !== undefined) throw new UsageError('--vkey and --policy: name one of them')
  const path = resolve(ctx.io.cwd, file)
  const trusted =
    vkey !== undefined
      ? policyOfKeys(vkey.map(logKey))
      : policy !== undefined
        ? text(resolve(ctx.io.cwd, policy))
        : null
  const found = await checkPack(withProgress(ctx, path), trusted).catch((error: NodeJS.ErrnoException) => {
    if (error instanceof NotATar) throw new CliError(`${path}: ${error.message}`, EXIT.verification)
    throw error.syscall === undefined ? error : new UsageError(`${path} cannot be read (${error.message}); name a pack`)
  })
  ctx.show(found, () => lines(file, found))
  if (trusted === null)
    ctx.note(
      'The keys are those in the pack: its parts belong together. --vkey KEY compares with a key from elsewhere.',
    )
  return found.ok ? EXIT.done : EXIT.verification
}

/** Refuses malformed keys, and keys that cannot sign heads of a log. */
function logKey(vkey: string): string {
  const type = typeOf(vkey)
  if (type === ED25519) return vkey
  throw new UsageError(`--vkey: logs sign with keys of type ${ED25519}, not ${type}; copy the verifier key of the log`)
}

function typeOf(vkey: string): number {
  try {
    return parseVkey(vkey).type
  } catch (error) {
    if (error instanceof ProofError) throw new UsageError(`--vkey: ${error.message}`)
    throw error
  }
}

function text(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`${path} cannot be read (${(error as Error).message}); name a policy`)
  }
}

const lines = (file: string, p: VerifiedPack): string[] => [
  `${file}: ${p.ok ? 'holds' : 'BROKEN'}, ${counted(p.events, 'event')} of ${counted(p.streams, 'stream')}, ` +
    `${p.bodies} with their body, ${p.erased} erased, ${p.withheld} withheld`,
  ...(p.size === null ? [] : [`  signed by ${p.origin}: a log of ${counted(p.size, 'event')}`]),
  ...p.witnesses.map((name) => `  cosigned by ${name}`),
  ...p.unproved.map((text) => `  not proved: ${text}`),
  ...p.problems.map(({ place, message }) => `  ${place}: ${message}`),
]
