import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { VERSION } from '../version.ts'
import { madePages } from './reference.ts'
import { makeSite, partsOf } from './site.ts'

// node api/site/main.ts [FOLDER]: writes the documents as a site of static files (default: api/site/dist), which `keepup serve`
// shows at /docs/ and which also works from a folder.

const here = import.meta.dirname
const docs = join(here, '../docs')

/** Writes the site into a folder. */
export async function writeSite(target: string): Promise<void> {
  const io = {
    ...{
      stdout: process.stdout,
      stderr: process.stderr,
      stdin: process.stdin,
      env: {},
      cwd: target,
      program: 'keepup',
    },
    open: async () => {
      throw new Error('the site opens no data folder')
    },
  }
  const read = (path: string) => readFileSync(join(docs, path), 'utf8')
  const list = (folder: string) =>
    readdirSync(join(docs, folder), { withFileTypes: true }).flatMap((one) => (one.isFile() ? [one.name] : []))
  const site = makeSite(partsOf(read, list, await madePages(io)), VERSION)
  rmSync(target, { recursive: true, force: true })
  for (const [path, text] of site.made) {
    mkdirSync(dirname(join(target, path)), { recursive: true })
    writeFileSync(join(target, path), text)
  }
  for (const [path, page] of site.files) {
    if (!existsSync(join(docs, path))) throw new Error(`${page}.md: there is no ${path}; correct the link`)
    cpSync(join(docs, path), join(target, path), { recursive: true })
  }
  cpSync(join(here, 'assets'), target, { recursive: true })
  cpSync(join(here, '../web/public/icon.svg'), join(target, 'icon.svg'))
}

if (process.argv[1] === import.meta.filename) await writeSite(resolve(process.argv[2] ?? join(here, 'dist')))
