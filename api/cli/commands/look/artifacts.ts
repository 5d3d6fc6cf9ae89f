import type { Command } from 'commander'
import type { z } from 'zod'
import { take } from '../../../http/answers.ts'
import type { ArtifactList } from '../../../operations/approvals/schemas.ts'
import type { Context } from '../../context.ts'
import { EXIT, UsageError } from '../../exit.ts'
import { type PageParameters, pages } from '../../follow/pages.ts'
import { oneLine } from '../../output/text.ts'
import { bytes } from '../../output/units.ts'
import type { Kit } from '../kit.ts'

type Listed = z.infer<typeof ArtifactList>['artifacts'][number]

/** All registered artifacts, read page by page. */
async function all(ctx: Context, run: string | undefined): Promise<Listed[]> {
  const client = await ctx.client('read')
  const of = run === undefined ? {} : { run }
  const read = (query: PageParameters): Promise<z.infer<typeof ArtifactList>> =>
    take(client.v1.artifacts.$get({ query: { ...query, ...of } }))
  return (await Array.fromAsync(pages(read))).flatMap(({ artifacts }) => artifacts)
}

const idOf = ({ agentId, artifact }: Listed): string => `${agentId}/${artifact.id}`

/** A claimed file has no size, because the file did not exist. */
const size = ({ artifact: { claimed, size } }: Listed): string =>
  claimed ? 'claimed, not there' : size === undefined ? '-' : bytes(size)

async function list(ctx: Context, run: string | undefined): Promise<number> {
  const rows = await all(ctx, run === undefined ? undefined : await ctx.runId(run, 'read'))
  ctx.list(rows, [
    { title: 'ARTIFACT', of: idOf },
    { title: 'TYPE', of: (a) => a.artifact.type },
    { title: 'SIZE', of: size, side: 'right' },
    { title: 'REGISTERED', of: (a) => a.createdAt, optional: true },
    { title: 'PATH OR TITLE', of: (a) => a.artifact.path ?? a.artifact.title ?? '', flexible: true },
  ])
  return EXIT.done
}

async function show(ctx: Context, id: string): Promise<number> {
  const agent = id.split('/')[0]!
  const rows = await all(ctx, await ctx.runId(agent.split('.')[0]!, 'read'))
  const found = rows.filter((row) => idOf(row).startsWith(id))
  const one = found.find((row) => idOf(row) === id) ?? (found.length === 1 ? found[0] : undefined)
  if (one === undefined) {
    const seen = `see "${ctx.command('artifacts', 'list', agent)}"`
    throw new UsageError(found.length > 1 ? `"${id}" is not unique; ${seen}` : `there is no artifact "${id}"; ${seen}`)
  }
  const { artifact } = one
  const facts: [string, string | null | undefined][] = [
    ['artifact', idOf(one)],
    ['type', artifact.type],
    ['title', artifact.title],
    ['path', artifact.path],
    ['size', size(one)],
    ['hash', artifact.hash],
    ['media type', artifact.mimeType],
    ['checkpoint', one.checkpointId],
    ['registered', one.createdAt],
  ]
  const lines = facts.flatMap(([name, value]) => (value == null ? [] : [`${name.padEnd(12)} ${oneLine(value)}`]))
  ctx.show(one, () => [...lines, ...(artifact.content === undefined ? [] : ['', artifact.content])])
  if (artifact.claimed && ctx.format === 'table') ctx.note('the agent named this file, but there was no such file')
  return EXIT.done
}

export function artifactsCommand(program: Command, kit: Kit): void {
  const artifacts = program.command('artifacts').description('list and show what runs have made')
  artifacts
    .command('list', { isDefault: true })
    .description('artifacts in the order in which they were registered; "claimed": named, but not there')
    .argument('[run]', 'of this run (default: of all)')
    .action(kit.action((ctx, [run]) => list(ctx, run)))
  artifacts
    .command('show')
    .description('an artifact: type, path, size, hash, and where it was made')
    .argument('<artifact>', 'as "artifacts" lists it')
    .action(kit.action((ctx, [id]) => show(ctx, id!)))
}
