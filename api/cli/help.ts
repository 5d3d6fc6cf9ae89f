import type { Command } from 'commander'
import { GROUPS, type Group, groupOf } from './commands/groups.ts'
import { isCommand, register } from './commands/index.ts'
import type { Kit } from './commands/kit.ts'
import { EXIT_HELP } from './exit.ts'

/** The help without a command: loads no command, and fits on a small terminal. */
export function overview(program: Command): string {
  const groups = GROUPS.map(({ name, purpose, commands }) => {
    const some = commands.slice(0, 6).join(', ')
    return `  ${name.padEnd(7)} ${purpose}:\n          ${some}${commands.length > 6 ? ' …' : ''}`
  })
  const options = program.createHelp().visibleOptions(program)
  return [
    'Usage: keepup [options] <command>',
    `${program.description()}`,
    '',
    ...groups,
    '',
    'To begin: keepup init, keepup demo, keepup run "TASK"',
    `Options: ${options.map((option) => option.flags.replace(/ <(\w+)>/, (_, name) => ` ${name.toUpperCase()}`)).join('; ')}`,
    'More: keepup help GROUP, keepup help COMMAND, keepup help all, keepup help codes',
    '',
  ].join('\n')
}

/** The commands of a group with their descriptions. */
async function groupHelp(program: Command, kit: Kit, group: Group): Promise<string> {
  await register(program, kit, group.commands)
  const help = program.createHelp()
  const found = group.commands.map((name) => program.commands.find((command) => command.name() === name)!)
  const width = Math.max(...found.map((command) => help.subcommandTerm(command).length))
  const line = (command: Command) =>
    help.formatItem(help.subcommandTerm(command), width, help.subcommandDescription(command), help)
  help.helpWidth = program.configureOutput().getOutHelpWidth?.() ?? 80
  const both = isCommand(group.name) ? [`keepup ${group.name} --help: the options of the command "${group.name}"`] : []
  return [
    `${group.name}: ${group.purpose}`,
    '',
    ...found.map(line),
    '',
    'keepup help COMMAND: its options and subcommands',
    ...both,
    '',
  ].join('\n')
}

/** All commands and options of the program, as commander shows them, in groups. */
export async function wholeHelp(program: Command, kit: Kit): Promise<string> {
  await register(program, kit, 'all')
  for (const command of program.commands) {
    const group = GROUPS.find(({ commands }) => commands.includes(command.name()))
    command.helpGroup(`To ${group?.purpose}:`)
  }
  return `${program.helpInformation()}\n${EXIT_HELP}`
}

/**
 * The text for `keepup help WORD`: a group, `all`, or `codes`. Null: the word names none of these; it may be a command.
 */
export async function helpText(program: Command, kit: Kit, word: string | undefined): Promise<string | null> {
  if (word === undefined) return overview(program)
  if (word === 'codes') return EXIT_HELP
  if (word === 'all') return wholeHelp(program, kit)
  const group = groupOf(word)
  return group === undefined ? null : groupHelp(program, kit, group)
}
