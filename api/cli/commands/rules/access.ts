import type { Command } from 'commander'
import type { z } from 'zod'
import { RIGHTS, type Right, ROLES, type Role } from '../../../../domain/access/rights.ts'
import { Effect } from '../../../../domain/calls/tools/tool-spec.ts'
import { take } from '../../../http/answers.ts'
import type { AccessView } from '../../../operations/access/schemas.ts'
import { OwnerError } from '../../../process/owner/backend.ts'
import type { Context } from '../../context.ts'
import { EXIT, UsageError } from '../../exit.ts'
import type { Kit } from '../kit.ts'
import { reportCommand } from './access-report.ts'

const roleOf = (word: string): Role => {
  const role = ROLES.find((one) => one === word)
  if (role === undefined) throw new UsageError(`"${word}" is no role: ${ROLES.join(', ')}`)
  return role
}

/** The granted roles, then those that only an issuer's tokens gave. */
const rolesText = ({
  roles,
  claimed,
}: {
  readonly roles: readonly Role[]
  readonly claimed: readonly { readonly roles: readonly Role[] }[]
}): string => {
  const more = new Set(claimed.flatMap((claim) => claim.roles)).difference(new Set(roles))
  return [...roles, ...[...more].map((role) => `${role} (claimed)`)].join(' ')
}

const listOf = (text: string): readonly string[] => text.split(',').map((one) => one.trim())

function rightsOf(text: string): Right[] {
  return listOf(text).map((word) => {
    const right = RIGHTS.find((one) => one === word)
    if (right === undefined) throw new UsageError(`"${word}" is no right: ${RIGHTS.join(', ')}`)
    return right
  })
}

const EFFECTS = Effect.options

/** A rule about approvers in words. */
const ruleText = ({ tools, effects, count }: z.infer<typeof AccessView>['approvers'][number]): string =>
  `${count} people approve calls of ${tools.join(', ')}${effects === undefined ? '' : ` (${effects.join(', ')})`}`

function newRule({
  tools,
  effects,
  count = '2',
}: {
  tools: string
  effects?: string | undefined
  count?: string | undefined
}) {
  const people = Number(count)
  if (!Number.isInteger(people) || people < 2 || people > 9)
    throw new UsageError(`--count: "${count}": write a number from 2 to 9`)
  const named = effects === undefined ? undefined : listOf(effects).map(effectOf)
  return { tools: [...listOf(tools)], ...(named !== undefined && { effects: named }), count: people }
}

/** Refuses names that no tool here has. Patterns and tools of servers can match tools that do not answer now. */
async function refuseUnknownTools(ctx: Context, names: readonly string[]): Promise<void> {
  const exact = names.filter((name) => !/[*:]/.test(name))
  if (exact.length === 0) return
  const { tools } = await take((await ctx.client('write')).v1.tools.$get({}))
  const unknown = exact.filter((name) => !tools.some((tool) => tool.name === name))
  if (unknown.length === 0) return
  const lists = ctx.command('tools', 'list')
  throw new UsageError(
    `--tools: no tool is named ${unknown.join(', ')}; ${lists} shows the names, and send* is a pattern`,
  )
}

function effectOf(word: string): Effect {
  const effect = EFFECTS.find((one) => one === word)
  if (effect === undefined) throw new UsageError(`"${word}" is no effect: ${EFFECTS.join(', ')}`)
  return effect
}

const DAY_MS = 86_400_000

/** The time after a number of days, or an ISO 8601 time. */
function until(text: string): string {
  const days = /^(\d{1,5})d$/.exec(text)?.[1]
  if (days !== undefined) return new Date(Date.now() + Number(days) * DAY_MS).toISOString()
  const at = Date.parse(text)
  if (Number.isNaN(at)) throw new UsageError(`--expires: "${text}" is no time; write 90d or 2027-01-31`)
  return new Date(at).toISOString()
}

/** Shows a new key. It goes to stdout alone, so that a script can store it. */
function showKey(
  ctx: Context,
  created: { readonly principal: string; readonly id: string; readonly key: string },
): number {
  ctx.show(created, () => [created.key])
  ctx.note(`the key ${created.id} of ${created.principal} is shown only here; set it as KEEPUP_KEY`)
  return EXIT.done
}

/** The rows of all pages. */
async function allPages<T>(
  read: (page: {
    limit: string
    after?: string
  }) => Promise<{ readonly rows: readonly T[]; readonly next: string | null }>,
): Promise<readonly T[]> {
  const all: T[] = []
  for (let after: string | null = ''; after !== null; ) {
    const page: { readonly rows: readonly T[]; readonly next: string | null } = await read({
      limit: '500',
      ...(after !== '' && { after }),
    })
    all.push(...page.rows)
    after = page.next
  }
  return all
}

/** The present state of access. Off in a folder that does not exist yet. */
async function accessOf(ctx: Context): Promise<z.infer<typeof AccessView>> {
  try {
    return await take((await ctx.client('read')).v1.access.$get({}))
  } catch (error) {
    if (!(error instanceof OwnerError && error.code === 'NOTHING_YET')) throw error
    return { on: false, separation: true, approvers: [], roles: {} }
  }
}

/** The command `access` with its subcommands. */
export function accessCommand(program: Command, kit: Kit): void {
  const access = program.command('access').description('who may do what: people, services, their roles and keys')

  access
    .command('init')
    .description('turn access on: from then on everyone needs a key; prints the key of the first admin')
    .argument('<admin>', 'the id under which facts record you, such as ann or ann@example.com')
    .option('--name <name>', 'your name, for people')
    .action(
      kit.action<{ name?: string }>(async (ctx, [principal = ''], { name }) => {
        const json = { principal, by: ctx.by, ...(name !== undefined && { name }) }
        return showKey(ctx, await take((await ctx.client('write')).v1.access.$post({ header: {}, json })))
      }),
    )

  access
    .command('show')
    .description('whether access is on, the rights of each role, and the rules about approvals')
    .action(
      kit.action(async (ctx) => {
        const found = await accessOf(ctx)
        ctx.show(found, () => [
          found.on ? 'access is on' : `access is off; ${ctx.command('access', 'init', '<you>')} turns it on`,
          ...(found.on ? [`separation of duties: ${found.separation ? 'on' : 'off'}`] : []),
          ...found.approvers.map(ruleText),
          ...Object.entries(found.roles).map(([role, rights]) => `${role}: ${rights.join(' ')}`),
        ])
        return EXIT.done
      }),
    )

  access
    .command('separation')
    .description('whether those who asked for a run may not approve its calls')
    .argument('<on|off>')
    .action(
      kit.action(async (ctx, [word = '']) => {
        if (word !== 'on' && word !== 'off') throw new UsageError(`"${word}": write on or off`)
        const json = { separation: word === 'on', by: ctx.by }
        const done = await take((await ctx.client('write')).v1.access.rules.$put({ header: {}, json }))
        ctx.show(done, () => [done.recorded ? `separation of duties: ${word}` : `it was ${word} before`])
        return EXIT.done
      }),
    )

  access
    .command('approvers')
    .description('calls that several people must approve in new runs; without options: the rules')
    .option('--tools <tools>', 'comma-separated tools, or patterns such as server:*')
    .option('--effects <effects>', `only calls with these effects, comma-separated: ${EFFECTS.join(', ')}`)
    .option('--count <people>', 'how many people must approve, 2 to 9; default 2')
    .option('--clear', 'remove all rules')
    .action(
      kit.action<{ tools?: string; effects?: string; count?: string; clear?: boolean }>(async (ctx, _, options) => {
        const { tools, effects, count, clear = false } = options
        if (tools === undefined && (effects !== undefined || count !== undefined))
          throw new UsageError('name the tools of the rule with --tools')
        if (clear && tools !== undefined) throw new UsageError('give either --clear, or --tools to add a rule')
        if (!clear && tools === undefined) {
          const { approvers: before } = await accessOf(ctx)
          ctx.show(before, () => (before.length === 0 ? ['one person approves a call'] : before.map(ruleText)))
          return EXIT.done
        }
        const rule = tools === undefined ? [] : [newRule({ tools, effects, count })]
        if (tools !== undefined) await refuseUnknownTools(ctx, listOf(tools))
        const json = { by: ctx.by, ...(clear ? { approvers: [] } : { addApprovers: rule }) }
        const done = await take((await ctx.client('write')).v1.access.rules.$put({ header: {}, json }))
        ctx.show(done, () => (clear ? ['no rules about approvers'] : rule.map(ruleText)))
        return EXIT.done
      }),
    )

  access
    .command('me')
    .description('the person or service of your key, and its rights')
    .action(
      kit.action(async (ctx) => {
        const me = await take((await ctx.client('read')).v1.access.me.$get({}))
        ctx.show(me, () => [me.principal ?? 'access is off; everyone may do everything', me.rights.join(' ')])
        return EXIT.done
      }),
    )

  access
    .command('list')
    .description('people and services with their roles')
    .action(
      kit.action(async (ctx) => {
        const client = await ctx.client('read')
        const found = await allPages(async (page) => {
          const { principals, next } = await take(client.v1.access.principals.$get({ query: page }))
          return { rows: principals, next }
        })
        ctx.list(found, [
          { title: 'PRINCIPAL', of: (one) => one.id },
          { title: 'KIND', of: (one) => one.kind },
          { title: 'ROLES', of: (one) => (one.removed ? 'removed' : rolesText(one)) },
          { title: 'LINKED', of: (one) => one.linked.join(' ') },
          { title: 'NAME', of: (one) => one.name, flexible: true },
        ])
        return EXIT.done
      }),
    )

  access
    .command('add')
    .description('add a person or a service')
    .argument('<principal>', 'the id under which facts record it')
    .option('--name <name>', 'the name for people')
    .option('--service', 'a program, not a person')
    .option('--role <roles>', `comma-separated: ${ROLES.join(', ')}`)
    .option('--issuer <url>', 'with --subject: the OpenID Connect issuer that knows the person')
    .option('--subject <id>', "the issuer's id of the person")
    .action(
      kit.action<{ name?: string; service?: boolean; role?: string; issuer?: string; subject?: string }>(
        async (ctx, [principal = ''], { name, service, role, issuer, subject }) => {
          if ((issuer === undefined) !== (subject === undefined))
            throw new UsageError('--issuer and --subject belong together; give both')
          const json = {
            ...{ principal, by: ctx.by, kind: service ? ('service' as const) : ('person' as const) },
            roles: role === undefined ? [] : listOf(role).map(roleOf),
            ...(name !== undefined && { name }),
            ...(issuer !== undefined && subject !== undefined && { subject: { issuer, subject } }),
          }
          const done = await take((await ctx.client('write')).v1.access.principals.$post({ header: {}, json }))
          ctx.show(done, () => [`${principal}: added; ${ctx.command('access', 'key', principal)} makes a key`])
          return EXIT.done
        },
      ),
    )

  access
    .command('remove')
    .description('remove a principal with its roles, keys and sessions; its id stays taken')
    .argument('<principal>')
    .option('--reason <text>', 'why; it is recorded')
    .action(
      kit.action<{ reason?: string }>(async (ctx, [principal = ''], { reason }) => {
        const json = { by: ctx.by, ...(reason !== undefined && { reason }) }
        const asked = { param: { principal }, header: {}, json }
        const done = await take((await ctx.client('write')).v1.access.principals[':principal'].remove.$post(asked))
        ctx.show(done, () => [`${principal}: removed`])
        return EXIT.done
      }),
    )

  for (const [word, description, done] of [
    ['grant', 'grant a role', 'granted'],
    ['take', 'take a role away; the last admin keeps the role', 'taken'],
  ] as const)
    access
      .command(word)
      .description(description)
      .argument('<principal>')
      .argument('<role>', ROLES.join(', '))
      .action(
        kit.action(async (ctx, [principal = '', role = '']) => {
          const asked = { param: { principal }, header: {}, json: { role: roleOf(role), by: ctx.by } }
          const answer = await take((await ctx.client('write')).v1.access.principals[':principal'][word].$post(asked))
          ctx.show(answer, () => [answer.recorded ? `${principal}: ${role} ${done}` : `${principal}: it was so before`])
          return EXIT.done
        }),
      )

  for (const [word, description, done, before] of [
    ['link', 'say that two ids belong to one person', 'are one person', 'they were linked before'],
    ['unlink', 'say that two linked ids belong to two people', 'are two people', 'these two ids have no direct link'],
  ] as const)
    access
      .command(word)
      .description(description)
      .argument('<name>', 'the id of a principal; recovery: the owner of the data folder')
      .argument('<other>', 'another one')
      .option('--reason <text>', 'why; it is recorded')
      .action(
        kit.action<{ reason?: string }>(async (ctx, [principal = '', other = ''], { reason }) => {
          const json = { other, by: ctx.by, ...(reason !== undefined && { reason }) }
          const asked = { param: { principal }, header: {}, json }
          const answer = await take((await ctx.client('write')).v1.access.principals[':principal'][word].$post(asked))
          ctx.show(answer, () => [answer.recorded ? `${principal} and ${other} ${done}` : before])
          return EXIT.done
        }),
      )

  access
    .command('key')
    .description('create a key; the output is the only place that shows it')
    .argument('<principal>')
    .option('--only <rights>', 'comma-separated rights that the key gives at most')
    .option('--expires <time>', 'such as 90d or 2027-01-31; default: never')
    .action(
      kit.action<{ only?: string; expires?: string }>(async (ctx, [principal = ''], { only, expires }) => {
        const json = {
          by: ctx.by,
          ...(only !== undefined && { rights: rightsOf(only) }),
          ...(expires !== undefined && { expiresAt: until(expires) }),
        }
        const asked = { param: { principal }, header: {}, json }
        const client = await ctx.client('write')
        return showKey(ctx, await take(client.v1.access.principals[':principal'].keys.$post(asked)))
      }),
    )

  access
    .command('keys')
    .description('keys without their secrets')
    .argument('[principal]')
    .action(
      kit.action(async (ctx, [principal]) => {
        const client = await ctx.client('read')
        const found = await allPages(async (page) => {
          const query = { ...page, ...(principal !== undefined && { principal }) }
          const { keys, next } = await take(client.v1.access.keys.$get({ query }))
          return { rows: keys, next }
        })
        ctx.list(found, [
          { title: 'KEY', of: (one) => one.id },
          { title: 'PRINCIPAL', of: (one) => one.principal },
          { title: 'STATE', of: (one) => one.state },
          { title: 'EXPIRES', of: (one) => one.expiresAt ?? 'never' },
          { title: 'RIGHTS', of: (one) => one.rights?.join(' ') ?? 'all of its owner', flexible: true },
        ])
        return EXIT.done
      }),
    )

  access
    .command('revoke')
    .description('revoke a key, and end the sessions that it opened')
    .argument('<key>', 'its id, as "access keys" shows it')
    .option('--reason <text>', 'why; it is recorded')
    .action(
      kit.action<{ reason?: string }>(async (ctx, [key = ''], { reason }) => {
        const json = { by: ctx.by, ...(reason !== undefined && { reason }) }
        const asked = { param: { key }, header: {}, json }
        const done = await take((await ctx.client('write')).v1.access.keys[':key'].revoke.$post(asked))
        ctx.show(done, () => [done.recorded ? `${key}: revoked` : `${key}: was revoked before`])
        return EXIT.done
      }),
    )

  reportCommand(access, kit)
}
