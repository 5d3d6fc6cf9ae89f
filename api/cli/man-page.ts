import type { Command } from 'commander'
import { GROUPS } from './commands/groups.ts'
import { EXIT_HELP } from './exit.ts'

/** Escapes a text for roff, which takes a line that starts with a dot for a request, and reads only ASCII. */
const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^([.'])/gm, '\\&$1')
    .replaceAll(/[^\0-\x7f]/gu, (c) => `\\[u${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`)

/** A command with its subcommands: usage, description and options. */
function sections(program: Command, command: Command, path: string): string[] {
  const help = program.createHelp()
  const options = help.visibleOptions(command).filter(({ long }) => long !== '--help')
  const entries = [
    ...help.visibleArguments(command).map((one) => [help.argumentTerm(one), help.argumentDescription(one)] as const),
    ...options.map((one) => [help.optionTerm(one), help.optionDescription(one)] as const),
  ].filter(([, text]) => text !== '')
  const usage = `${path} ${command.usage()}`.trim()
  return [
    `.SS ${roff(usage)}`,
    roff(command.description()),
    ...entries.flatMap(([term, text]) => ['.TP', `.B ${roff(term)}`, roff(text)]),
    ...help.visibleCommands(command).flatMap((one) => sections(program, one, `${path} ${one.name()}`)),
  ]
}

/** The manual page of a program whose commands are all registered, for `man` (roff with the macros of man(7)). */
export function manPage(program: Command, version: string): string {
  const help = program.createHelp()
  const name = program.name()
  return [
    `.TH ${name.toUpperCase()} 1 "" "${name} ${version}" "User Commands"`,
    '.SH NAME',
    `${name} \\- ${roff(program.description())}`,
    '.SH SYNOPSIS',
    `.B ${name}`,
    '[options] <command>',
    '.SH OPTIONS',
    ...help
      .visibleOptions(program)
      .flatMap((one) => ['.TP', `.B ${roff(help.optionTerm(one))}`, roff(help.optionDescription(one))]),
    ...GROUPS.flatMap(({ name: group, purpose, commands }) => [
      `.SH ${group.toUpperCase()}`,
      `${roff(purpose[0]!.toUpperCase() + purpose.slice(1))}.`,
      ...commands.flatMap((word) => {
        const command = program.commands.find((one) => one.name() === word)!
        return sections(program, command, `${name} ${word}`)
      }),
    ]),
    '.SH EXIT STATUS',
    '.nf',
    roff(EXIT_HELP.replace(/^Exit codes:\n/, '').trimEnd()),
    '.fi',
    '',
  ].join('\n')
}
