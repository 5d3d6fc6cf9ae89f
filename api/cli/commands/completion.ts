import type { Command } from 'commander'
import { EXIT } from '../exit.ts'
import { completion, SHELLS } from '../shell-completion.ts'
import { choice, type Kit } from './kit.ts'

const HELP = `
  bash: eval "$(keepup completion bash)"          in ~/.bashrc
  zsh:  eval "$(keepup completion zsh)"           in ~/.zshrc, after compinit
  fish: keepup completion fish > ~/.config/fish/completions/keepup.fish
`

export function completionCommand(program: Command, kit: Kit): void {
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
}
