import type { Command } from 'commander'
import type { ErasureCode } from '../../../../domain/stream/erasure.ts'
import { take } from '../../../http/answers.ts'
import type { StoredVariable, StoreShown, StoreSummary } from '../../../operations/store/schemas.ts'
import { agreed } from '../../ask/choose.ts'
import { erasureCode } from '../../ask/erasing.ts'
import type { Context } from '../../context.ts'
import { EXIT, UsageError } from '../../exit.ts'
import { allStores } from '../../follow/pages.ts'
import { bytes } from '../../output/units.ts'
import { concluded, verifyOneStore } from '../../verification.ts'
import type { Kit } from '../kit.ts'
import { flowExport } from '../look/history.ts'

interface ShowOptions {
  prefix?: string
  deleted?: boolean
}

async function list(ctx: Context): Promise<number> {
  const found: StoreSummary[] = []
  for await (const store of allStores(await ctx.client('read'))) found.push(store)
  ctx.list(found, [
    { title: 'STORE', of: (one) => one.store },
    { title: 'VARIABLES', of: (one) => String(one.variables) },
    { title: 'SIZE', of: (one) => bytes(one.bytes) },
    { title: 'CHANGED', of: (one) => one.updatedAt, optional: true },
    { title: 'BY', of: (one) => one.updatedBy + (one.incompleteFrom === null ? '' : ' (incomplete)') },
  ])
  return EXIT.done
}

const stateOf = ({ deletedAt, erased }: StoredVariable): string =>
  [deletedAt === null ? '' : 'deleted', erased ? 'erased' : ''].filter(Boolean).join(', ')

async function show(ctx: Context, store: string, { prefix, deleted }: ShowOptions): Promise<number> {
  const client = await ctx.client('read')
  const which = { limit: '500', ...(prefix && { prefix }), ...(deleted && { deleted: 'true' as const }) }
  const variables: StoredVariable[] = []
  for (let after: string | null | undefined; after !== null; ) {
    const query = after === undefined ? which : { ...which, after }
    const page: StoreShown = await take(client.v1['context-stores'][':store'].$get({ param: { store }, query }))
    variables.push(...page.variables)
    after = page.next
  }
  ctx.list(variables, [
    { title: 'KEY', of: (one) => one.key, flexible: true },
    { title: 'TYPE', of: (one) => one.type },
    { title: 'SIZE', of: (one) => bytes(one.bytes) },
    { title: 'AT', of: (one) => `@${one.revision}` },
    { title: 'SET', of: (one) => one.at, optional: true },
    { title: 'BY', of: (one) => one.setBy, optional: true },
    { title: 'RUN', of: (one) => one.runId ?? '', optional: true },
    { title: 'STATE', of: stateOf },
  ])
  return EXIT.done
}

async function get(ctx: Context, store: string, key: string): Promise<number> {
  const client = await ctx.client('read')
  const found = await take(client.v1['context-stores'][':store'].variable.$get({ param: { store }, query: { key } }))
  const { value } = found
  ctx.show(found, () => (typeof value === 'string' ? value : JSON.stringify(value, null, 2)).split('\n'))
  return EXIT.done
}

interface EraseOptions {
  all?: true
  code: ErasureCode
  reason: string
  dryRun?: boolean
  yes?: boolean
}

async function erase(ctx: Context, store: string, key: string | undefined, o: EraseOptions): Promise<number> {
  const { all, code, reason, dryRun, yes } = o
  if ((key === undefined) !== (all === true)) throw new UsageError('name either a variable or --all')
  if (reason.trim() === '') throw new UsageError('--reason: say why')
  const client = await ctx.client('write')
  const ask = (dry: boolean) => {
    const json = { code, reason, by: ctx.by, dryRun: dry, ...(key === undefined ? { all } : { key }) }
    return take(client.v1['context-stores'][':store'].erase.$post({ param: { store }, header: {}, json }))
  }
  const found = await ask(true)
  const doomed = found.bodies ?? []
  const size = bytes(doomed.reduce((sum, body) => sum + body.size, 0))
  const what = `${doomed.length} ${doomed.length === 1 ? 'value' : 'values'} of ${key ?? store}, ${size}`
  if (dryRun) {
    ctx.show(found, () => [doomed.length === 0 ? 'nothing was left to erase' : `This would empty ${what}`])
    return EXIT.done
  }
  if (doomed.length > 0) {
    ctx.note(`This empties for ever: ${what}`)
    if (!(await agreed(ctx, yes, 'Empty them? Nothing brings them back.'))) {
      ctx.note('nothing was erased')
      return EXIT.interrupted
    }
  }
  const done = await ask(false)
  ctx.show(done, () => [
    done.recorded ? `erased; recorded up to revision ${done.revision}` : 'nothing was left to erase',
  ])
  return EXIT.done
}

async function exportTo(ctx: Context, store: string): Promise<number> {
  const backend = await ctx.backend('read')
  const url = `http://localhost/v1/context-stores/${encodeURIComponent(store)}/export`
  return flowExport(ctx, await backend.fetch(new Request(url)))
}

/** Commands for the stores of context variables. */
export function storesCommand(program: Command, kit: Kit): void {
  const stores = program.command('stores').description('stores of context variables (ContextStore)')
  stores
    .command('list', { isDefault: true })
    .description('all stores')
    .action(kit.action((ctx) => list(ctx)))
  stores
    .command('show')
    .description('the variables of a store, without their values')
    .argument('<store>')
    .option('--prefix <text>', 'those whose key begins so')
    .option('--deleted', 'also those that were deleted')
    .action(kit.action<ShowOptions>((ctx, [store], options) => show(ctx, store!, options)))
  stores
    .command('get')
    .description('the value of a variable')
    .argument('<store>')
    .argument('<key>')
    .action(kit.action((ctx, [store, key]) => get(ctx, store!, key!)))
  stores
    .command('erase')
    .description('empty every value that a variable has had, for ever')
    .argument('<store>')
    .argument('[key]')
    .option('--all', 'the values of all variables')
    .requiredOption('--reason <text>', 'required; recorded, and shown wherever the value would be')
    .addOption(erasureCode())
    .option('--dry-run', 'only show what would be emptied')
    .option('--yes', 'do not ask; needed where there is no terminal')
    .action(kit.action<EraseOptions>((ctx, [store, key], options) => erase(ctx, store!, key, options)))
  stores
    .command('verify')
    .description('check the chain, the bodies and the digests of a store')
    .argument('<store>')
    .action(kit.action(async (ctx, [store]) => concluded(ctx, await verifyOneStore(ctx, store!))))
  stores
    .command('export')
    .description("a store's sealed events as NDJSON on stdout, to be verified elsewhere")
    .argument('<store>')
    .action(kit.action((ctx, [store]) => exportTo(ctx, store!)))
}
