import type { Command } from 'commander'
import { take } from '../../../http/answers.ts'
import type { Client } from '../../client.ts'
import type { Context } from '../../context.ts'
import { CliError, EXIT } from '../../exit.ts'
import { openBrowser } from '../../open-browser.ts'
import type { Kit } from '../kit.ts'

/** Creates a one-time link to the web page, prints it, and opens it in a browser if this host has one. */
export async function openPage(ctx: Context, client: Client, browse = true): Promise<void> {
  const { url } = await take(client.v1.session.codes.$post({ json: { by: ctx.by } }))
  if (url === null)
    throw new CliError(`no process serves the page of this data folder; start one: ${ctx.command('serve', '--open')}`)
  ctx.note(`the page, for one browser within a minute: ${url}`)
  if (browse && !openBrowser(url, ctx.io.env)) ctx.note('no browser was found here: open the link in one')
}

interface OpenOptions {
  browser?: boolean
}

export function openCommand(program: Command, kit: Kit): void {
  program
    .command('open')
    .description('open the page of the process that serves the data folder, in the browser')
    .option('--no-browser', 'only show the link')
    .action(
      kit.action<OpenOptions>(async (ctx, _, { browser }) => {
        await openPage(ctx, await ctx.client('read'), browser)
        return EXIT.done
      }),
    )
}
