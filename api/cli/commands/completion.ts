import type { Command } from 'commander'
import { VERSION } from '../../version.ts'
import { EXIT } from '../exit.ts'
import { manPage } from '../man-page.ts'
import { completion, SHELLS } from '../shell-completion.ts'
import { choice, type Kit } from './kit.ts'

const HELP = `
  bash: eval "$(keepup completion bash)"          in ~/.bashrc
  zsh:  eval "$(keepup completion zsh)"           in ~/.zshrc, after compinit
  fish: keepup completion fish > ~/.config/fish/completions/keepup.fish
`

/** The commands `completion` and `man`, generated from all other commands. */
export function completionCommands(program: Command, kit: Kit): void {
  program
    .command('completion')
    .description('a script that completes commands and options, for your shell')
    .argument('<shell>', SHELLS.join(', '))
    .addHelpText('after', HELP)
    .action(
      kit.action(async (ctx, [shell]) => {
        ctx.data(completion(program, choice('shell', SHELLS)(shell!)))
        return EXIT.done
      }),
    )
  program
    .command('man')
    .description('the manual page of all commands, for man(1)')
    .addHelpText('after', '\n  keepup man > ~/.local/share/man/man1/keepup.1, then: man keepup')
    .action(
      kit.action(async (ctx) => {
        ctx.data(manPage(program, VERSION))
        return EXIT.done
      }),
    )
}
