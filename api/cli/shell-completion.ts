import type { Command } from 'commander'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

/** The words that can follow a command: its subcommands, its options, and the global options. */
interface Place {
  /** The words of the command, without the program's name. */
  readonly path: readonly string[]
  readonly commands: readonly Command[]
  readonly options: readonly { readonly flag: string; readonly description: string }[]
}

function places(program: Command): Place[] {
  const options = (command: Command) =>
    command.options.flatMap(({ long, description }) => (long == null ? [] : [{ flag: long, description }]))
  const shared = [...options(program), { flag: '--help', description: 'display help for command' }]
  const walk = (command: Command, path: readonly string[]): Place[] => [
    { path, commands: command.commands, options: path.length === 0 ? shared : [...options(command), ...shared] },
    ...command.commands.flatMap((one) => walk(one, [...path, one.name()])),
  ]
  return walk(program, [])
}

const named = (program: Command) => program.name()

/** The words before the cursor that are not options decide which words can follow. */
function bash(program: Command): string {
  const name = named(program)
  const cases = places(program).map(({ path, commands, options }) => {
    const words = [...commands.map((one) => one.name()), ...options.map(({ flag }) => flag)]
    return `    '${path.join(' ')}') words='${words.join(' ')}' ;;`
  })
  return `_${name}() {
  local cur=\${COMP_WORDS[COMP_CWORD]} path='' words='' word i
  local known=' ${places(program)
    .map(({ path }) => path.join(' '))
    .filter((path) => path !== '')
    .map((path) => path.replaceAll(' ', '/'))
    .join(' ')} '
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $known == *" \${path:+\${path// //}/}$word "* ]]; then path="\${path:+$path }$word"; fi
  done
  case $path in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  if [[ \${#COMPREPLY[@]} -eq 0 ]]; then COMPREPLY=($(compgen -f -- "$cur")); fi
}
complete -F _${name} ${name}
`
}

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

function fish(program: Command): string {
  const name = named(program)
  return places(program)
    .flatMap(({ path, commands, options }) => {
      const under = path.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ')
      const none = `not __fish_seen_subcommand_from ${commands.map((one) => one.name()).join(' ')}`
      const here = path.length === 0 ? '__fish_use_subcommand' : `${under}; and ${none}`
      return [
        ...commands.map(
          (one) => `complete -c ${name} -n ${quoted(here)} -a ${one.name()} -d ${quoted(one.description())}`,
        ),
        ...options.map(({ flag, description }) => {
          const when = path.length === 0 ? '' : ` -n ${quoted(under)}`
          return `complete -c ${name}${when} -l ${flag.slice(2)} -d ${quoted(description)}`
        }),
      ]
    })
    .join('\n')
    .concat('\n')
}

/** A script that completes the program's commands and options in a shell. */
export function completion(program: Command, shell: Shell): string {
  if (shell === 'fish') return fish(program)
  const script = bash(program)
  return shell === 'bash' ? script : `autoload -U +X bashcompinit && bashcompinit\n${script}`
}
