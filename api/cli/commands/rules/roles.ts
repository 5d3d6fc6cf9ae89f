import { resolve } from 'node:path'
import type { Command } from 'commander'
import { parseRole, RoleFileError, roleJsonSchema } from '../../../../adapters/files/roles/parse-role.ts'
import type { RoleFile } from '../../../../domain/agent/definition/role-file-schema.ts'
import { take } from '../../../http/answers.ts'
import { namesFor, rolesFolder } from '../../../process/host/known-roles.ts'
import type { Context } from '../../context.ts'
import { EXIT, UsageError } from '../../exit.ts'
import { alone, type Kit, readText } from '../kit.ts'

async function rolesOf(ctx: Context) {
  const found = await take((await ctx.client('write')).v1.roles.$get({}))
  for (const fault of found.faults) ctx.note(fault)
  return found.roles
}

async function list(ctx: Context): Promise<number> {
  ctx.list(await rolesOf(ctx), [
    { title: 'NAME', of: (r) => r.name },
    { title: 'PHASES', of: (r) => r.definition.phases.map(({ name }) => name).join(' → ') },
    { title: 'TURNS', of: (r) => r.definition.maxReactLoop, side: 'right' },
    { title: 'MODEL', of: (r) => r.model, optional: true },
    { title: 'FROM', of: (r) => r.file ?? 'built in', flexible: true },
  ])
  ctx.note(`roles of your own are the files *.json of ${rolesFolder(ctx.config)}`)
  return EXIT.done
}

async function show(ctx: Context, name: string): Promise<number> {
  const roles = await rolesOf(ctx)
  const role = roles.find((one) => one.name === name)
  if (role === undefined)
    throw new UsageError(`there is no role "${name}"; there are ${roles.map((one) => one.name).join(', ')}`)
  const { definition, model, wallClockMs } = role
  ctx.show(role, () => [
    `${definition.name}, ${definition.profile}: ${definition.goal}`,
    `from ${role.file ?? 'keepup itself'}; ${definition.maxReactLoop} turns and the grace turns`,
    ...(model === null ? [] : [`model ${model}`]),
    ...(wallClockMs === null ? [] : [`time limit ${wallClockMs} ms`]),
    ...definition.phases.map((phase) => `phase ${phase.name}: ${phase.allowedTools.join(', ') || 'no tools'}`),
    ...definition.qualityGates.map(
      ({ check, after, argv }) => `gate ${check} after ${after}${argv === undefined ? '' : `: ${argv.join(' ')}`}`,
    ),
    ...(definition.prompt === undefined ? [] : ['', definition.prompt]),
  ])
  return EXIT.done
}

/** Checks a role file like those in the roles folder. Tools that a program defines are unknown here. */
async function check(ctx: Context, file: string): Promise<number> {
  const path = resolve(ctx.io.cwd, file)
  const text = readText(path, path, ctx.io.cwd)
  const role = parsed(text, path, namesFor(ctx.config))
  ctx.show({ file: path, role }, () => [`${path}: the role "${role.name}" can be used`])
  return EXIT.done
}

function parsed(...asked: Parameters<typeof parseRole>): RoleFile {
  try {
    return parseRole(...asked)
  } catch (error) {
    throw error instanceof RoleFileError ? new UsageError(error.message) : error
  }
}

export function rolesCommand(program: Command, kit: Kit): void {
  const roles = program.command('roles').description('the procedures that runs can follow, built in and your own')
  alone(roles.command('list', { isDefault: true }))
    .description('names, phases, and where they are from')
    .action(kit.action((ctx) => list(ctx)))
  roles
    .command('show')
    .description('phases, gates and limits of a role')
    .argument('<name>')
    .action(kit.action((ctx, [name]) => show(ctx, name!)))
  roles
    .command('check')
    .description('whether a role file can be used; what is wrong is told with its key')
    .argument('<file>')
    .action(kit.action((ctx, [file]) => check(ctx, file!)))
  roles
    .command('schema')
    .description('the JSON Schema of role files, for editors')
    .action(
      kit.action(async (ctx) => {
        const schema = roleJsonSchema()
        ctx.show(schema, () => JSON.stringify(schema, null, 2).split('\n'))
        return EXIT.done
      }),
    )
}
