import { type ExecFileSyncOptions, execFileSync, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blocksIn } from '../support/examples/blocks.ts'
import { freshFolders } from '../support/folders.ts'

// The tarball as a user has it: unpacked into node_modules of an empty project, beside its declared dependencies only.

const root = resolve(import.meta.dirname, '../..')
const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const tarball = join(root, `keepup-runtime-${own.version}.tgz`)
const folders = freshFolders()
const { ws: project } = folders
const installed = join(project, 'node_modules/@keepup/runtime')
const cli = join(installed, 'api/cli/keepup.js')
const env = {
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
  HOME: folders.base,
  XDG_DATA_HOME: folders.data,
}
const options: ExecFileSyncOptions & { encoding: 'utf8' } = { cwd: project, encoding: 'utf8', env }
const keepup = (...args: string[]) => spawnSync(process.execPath, [cli, ...args], options)
const manifest = () => JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Record<string, object>

const bundled = () => (manifest().bundleDependencies ?? []) as readonly string[]
/** The packages that a user's npm installs beside the package. */
const outside = () => Object.keys(manifest().dependencies ?? {}).filter((name) => !bundled().includes(name))

/** Node that says it is an older one. */
const OLD = `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'22.1.0'})`

/** The folder where Node finds a package from another folder. Null: nowhere; it is optional on this machine. */
function installedAt(name: string, from: string): string | null {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name)
    if (existsSync(folder)) return folder
    if (at === dirname(at)) return null
  }
}

/** A really older Node on the PATH, if there is one. */
const oldNode = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'node'))
  .find((file) => {
    if (!existsSync(file)) return false
    const { stdout } = spawnSync(file, ['-p', 'process.versions.node'], { encoding: 'utf8' })
    return Number(stdout.split('.')[0]) < 24
  })
beforeAll(() => {
  if (!existsSync(tarball)) throw new Error('there is no tarball; make it with "npm run pack"')
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
  // Programs of the docs use the peers too, and one of them a test library.
  const peers = [
    '@ag-ui/client',
    '@langchain/core',
    '@langchain/langgraph-checkpoint',
    '@types/node',
    'ai',
    'fast-check',
  ]
  for (const name of [...outside(), ...peers]) {
    const at = join(project, 'node_modules', name)
    mkdirSync(dirname(at), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), at)
  }
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'user', type: 'module', private: true }))
})
afterAll(folders.remove)

describe('the published package', () => {
  it('holds what was compiled, the demo and the papers, and nothing of the workshop', () => {
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' }).filter((path) =>
      statSync(join(installed, path)).isFile(),
    )
    const rooms = /^(domain|adapters|projections|api|bundle|node_modules)\//
    expect(files.filter((path) => !rooms.test(path)).sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'package.json',
      'sbom.cdx.json',
    ])
    // The documents of the clone, as pages and as a site, and the manual page, which is made for the package.
    const papers = ['api/docs', 'api/site/dist']
      .flatMap((folder) =>
        readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
      )
      .filter((path) => statSync(join(root, path)).isFile() && !/\.(js|css)$/.test(path))
      .concat('api/docs/keepup.1')
      .sort()
    // The names of assets change with their content.
    expect(files.filter((path) => /^api\/web\/dist\/assets\/.*\.(js|css)$/.test(path)).length).toBeGreaterThan(1)
    expect(files.filter((path) => rooms.test(path) && !/\.(js|d\.ts|css|wasm)$/.test(path)).sort()).toEqual([
      'api/cli/acp/registry/agent.json',
      'api/cli/acp/registry/icon.svg',
      'api/demo/architect.json',
      'api/demo/project/README.md',
      'api/demo/project/package.json',
      'api/demo/project/src/receipt.ts',
      'api/demo/project/test/receipt.test.ts',
      'api/demo/script.json',
      'api/demo/team.json',
      ...papers,
      'api/web/dist/icon-asks.svg',
      'api/web/dist/icon.svg',
      'api/web/dist/index.html',
      'bundle/LICENSES.txt',
      'node_modules/loro-crdt/LICENSE',
      'node_modules/loro-crdt/package.json',
    ])
  })

  it('names the license of each package that was bundled', () => {
    const licenses = readFileSync(join(installed, 'bundle/LICENSES.txt'), 'utf8')
    const needed = new Set(Object.keys(own.dependencies).filter((name) => !outside().includes(name)))
    for (const name of needed) {
      const isNamed = bundled().includes(name) || new RegExp(`^${name} \\(\\S+\\)$`, 'm').test(licenses)
      expect([name, isNamed]).toEqual([name, true])
    }
  })

  it('lists every package in its bill of materials, with version and license', () => {
    const bill = JSON.parse(readFileSync(join(installed, 'sbom.cdx.json'), 'utf8')) as {
      readonly components: readonly { readonly name: string; readonly 'bom-ref': string; readonly licenses: object[] }[]
      readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
    }
    const refs = bill.components.map((one) => one['bom-ref'])
    const names = new Set(bill.components.map(({ name }) => name))
    expect(Object.keys(own.dependencies).filter((name) => !names.has(name))).toEqual([])
    const licenses = readFileSync(join(installed, 'bundle/LICENSES.txt'), 'utf8')
    const inBundle = [...licenses.matchAll(/^((?:@[\w-]+\/)?[\w.-]+) \([\w.-]+\)$/gm)].map(([, name]) => name!)
    expect(inBundle.length).toBeGreaterThan(20)
    expect(inBundle.filter((name) => !names.has(name))).toEqual([])
    expect(bill.components.filter(({ licenses }) => licenses.length === 0)).toEqual([])
    expect(bill.dependencies.slice(1).map(({ ref }) => ref)).toEqual(refs)
    expect(bill.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.includes(ref))).toEqual([])
  })

  it('is the same, byte for byte, when it is packed again', () => {
    const before = readFileSync(tarball)
    const { status, stderr } = spawnSync(process.execPath, [join(root, '.ci/pack.js')], { cwd: root, encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(readFileSync(tarball).equals(before)).toBe(true)
  })

  it('finds every package that a file of the bundle imports', () => {
    const files = readdirSync(join(installed, 'bundle')).filter((name) => name.endsWith('.js'))
    expect(files.length).toBeGreaterThan(100)
    const program = 'for (const file of JSON.parse(process.argv[1])) await import(file)'
    const urls = files.map((name) => pathToFileURL(join(installed, 'bundle', name)).href)
    const { stderr, status } = spawnSync(
      process.execPath,
      ['--input-type=module', '-e', program, JSON.stringify(urls)],
      options,
    )
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
  })

  it('takes at most 60 MB with all packages that it needs', () => {
    const size = (folder: string): number =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .map((path) => statSync(join(folder, path)))
        .filter((file) => file.isFile())
        .reduce((sum, file) => sum + Math.ceil(file.size / 4096) * 4096, 0)
    const counted = new Map<string, number>()
    const open = outside().map((name) => ({ name, from: root }))
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const folder = installedAt(next.name, next.from)
      if (folder === null || counted.has(folder)) continue
      counted.set(folder, size(folder))
      const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      open.push(...Object.keys(dependencies).map((name) => ({ name, from: folder })))
    }
    expect(counted.size).toBeGreaterThan(20)
    const bytes = [...counted.values()].reduce((sum, each) => sum + each, size(installed))
    expect(bytes / 1e6).toBeLessThan(60)
  })

  it('asks a user for what it needs to run, and runs nothing at its installation', () => {
    const { dependencies, ...rest } = manifest()
    // The same versions as in the clone, without what the bundle contains.
    expect(own.dependencies).toMatchObject(dependencies!)
    expect(Object.keys(dependencies!)).toEqual([
      '@eventstore/db-client',
      '@mdream/js',
      'kysely',
      'loro-crdt',
      'pg',
      'unpdf',
      'zod',
    ])
    expect(Object.keys(rest.peerDependencies ?? {})).toEqual(Object.keys(rest.peerDependenciesMeta ?? {}))
    expect(rest).toMatchObject({ name: '@keepup/runtime', version: own.version, engines: { node: '>=24' } })
    expect(rest).toMatchObject({ bin: { keepup: 'api/cli/keepup.js' }, publishConfig: { access: 'public' } })
    // npm links the manual pages of a list only.
    expect(rest.man).toEqual(['./api/docs/keepup.1'])
    for (const key of ['private', 'scripts', 'optionalDependencies', 'devDependencies'])
      expect(rest).not.toHaveProperty(key)
    expect(statSync(cli).mode & 0o111).toBe(0o111)
    expect(readFileSync(cli, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\nif \(Number\(process\.versions/)
  })

  it('gives a global installation its command and its manual page', () => {
    // The package without its dependencies, so that npm needs no registry.
    const { dependencies: _, bundleDependencies: __, ...rest } = manifest()
    const bare = join(folders.base, 'bare')
    const prefix = join(folders.base, 'prefix')
    for (const path of ['api/cli/keepup.js', 'api/docs/keepup.1']) {
      mkdirSync(dirname(join(bare, path)), { recursive: true })
      copyFileSync(join(installed, path), join(bare, path))
    }
    writeFileSync(join(bare, 'package.json'), JSON.stringify(rest))
    const packed = JSON.parse(execFileSync('npm', ['pack', '--json', bare], { ...options, cwd: folders.base }))
    const { filename } = (Array.isArray(packed) ? packed : Object.values(packed))[0] as { filename: string }
    const quiet = ['--offline', '--no-audit', '--no-fund', '--omit=peer']
    execFileSync('npm', ['install', '-g', '--prefix', prefix, ...quiet, join(folders.base, filename)], options)
    expect(existsSync(join(prefix, 'bin/keepup'))).toBe(true)
    expect(readFileSync(join(prefix, 'share/man/man1/keepup.1'), 'utf8')).toContain('.TH')
  })

  it('knows its version', () => {
    expect(keepup('--version')).toMatchObject({ status: 0, stdout: `${own.version}\n`, stderr: '' })
  })

  it('examines a new data folder', () => {
    const data = join(folders.base, 'examined')
    for (const command of ['init', 'doctor']) {
      const { status, stdout, stderr } = keepup('--data', data, command)
      expect([status, stderr], stdout).toEqual([0, expect.not.stringContaining('should not have happened')])
      if (command === 'doctor') expect(stdout).toMatch(/^clock +ok /m)
    }
  })

  it('plays the demo', () => {
    const { status, stderr } = keepup('demo')
    const own = /--data (\S+)/.exec(stderr)![1]!
    expect(stderr).toContain('Verified')
    expect(stderr).not.toMatch(/this should not have happened|Warning/)
    expect(status).toBe(0)
    const { runs } = {
      runs: JSON.parse(keepup('runs', 'list', '-o', 'json', '--data', own).stdout) as { status: string }[],
    }
    expect(runs.map((run) => run.status)).toEqual(['completed', 'completed', 'completed'])
    // A person's own runs are not mixed with it.
    expect(existsSync(join(folders.data, 'keepup'))).toBe(false)
    rmSync(dirname(own), { recursive: true })
  })

  it('type-checks in every program of the docs and in one of a user, which runs', () => {
    writeFileSync(
      join(project, 'main.ts'),
      `
      import { openKeepUp, type Checkpoint, type RecoveryConfig, type RuntimeEvent } from '@keepup/runtime'
      import { checkTool, defineTool, z } from '@keepup/runtime/tools'

      const roll = defineTool({
        name: 'dice:roll',
        description: 'Rolls a die.',
        parameters: z.strictObject({ sides: z.int().min(2) }),
        effect: 'pure',
        timeLimitMs: 1000,
        run: async ({ sides }) => ({ content: { rolled: sides } }),
      })
      const faults: string[] = await checkTool(roll, { arguments: { sides: 6 } })
      const recovery: Partial<RecoveryConfig> = { graceTurns: 1 }
      const script = {
        script: 1 as const,
        turns: [
          { calls: [{ tool: 'dice__roll', arguments: { sides: 6 } }] },
          { calls: [{ tool: 'complete_task', arguments: { summary: 'rolled' } }] },
        ],
      }
      const keepup = await openKeepUp({ data: './kept', tools: [roll], scripts: { dice: script } })
      const { runId } = await keepup.start({ task: 'Roll', model: 'scripted:dice', recovery })
      const { end } = await keepup.drive(runId)
      const events: RuntimeEvent[] = []
      for await (const event of keepup.follow(runId)) events.push(event)
      const checkpoint: Checkpoint | null = await keepup.checkpoint(runId, 1)
      await keepup.close()
      console.log(JSON.stringify({ faults, end, last: events.at(-1)?.type, rolled: checkpoint?.completedToolResults[0]?.result }))
      `,
    )
    const programs = blocksIn('ts').map(({ text }) => text)
    expect(programs.length).toBeGreaterThan(3)
    // `export {}` makes each program a module: their names stay apart.
    const docs = programs.map((text, n) => ({ file: `docs-${n}.ts`, text: `${text}\nexport {}\n` }))
    for (const { file, text } of docs) writeFileSync(join(project, file), text)
    const files = ['main.ts', ...docs.map(({ file }) => file)]
    const compilerOptions = { module: 'nodenext', target: 'esnext', strict: true, noEmit: true, types: ['node'] }
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
    const tsc = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', '.'], options)
    expect(tsc.stdout).toBe('')
    expect(tsc.status).toBe(0)
    const { stdout, stderr, status } = spawnSync(process.execPath, ['main.ts'], options)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject({ faults: [], end: 'done', rolled: { rolled: 6 } })
  })

  it('type-checks in a program of the AI SDK', () => {
    writeFileSync(join(project, 'ai.ts'), readFileSync(join(root, 'api/docs/examples/ai-sdk/main.ts'), 'utf8'))
    // A dependency of the AI SDK has no types.
    const compilerOptions = {
      module: 'nodenext',
      target: 'esnext',
      strict: true,
      noEmit: true,
      types: ['node'],
      skipLibCheck: true,
    }
    writeFileSync(join(project, 'tsconfig.ai.json'), JSON.stringify({ compilerOptions, files: ['ai.ts'] }))
    const command = [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.ai.json']
    const tsc = spawnSync(process.execPath, command, options)
    expect({ stdout: tsc.stdout, status: tsc.status }).toEqual({ stdout: '', status: 0 })
  })

  it('checks an agent of the user with the kit', () => {
    writeFileSync(
      join(project, 'agent.mjs'),
      `
      import { checkAgent } from '@keepup/runtime/agents'

      const plain = {
        kind: 'plain',
        capabilities: ['agent_api.run', 'agent_api.events', 'agent_api.events.live'],
        program: 'plain',
        versionArgs: ['--version'],
        passes: [],
        plan: ({ prompt }) => ({ args: [], stdin: prompt }),
        mapping() {
          let end = { done: false, finalText: null }
          return {
            line({ say, session }) {
              if (session) return { sessionId: session }
              end = { done: true, finalText: say }
              return { events: [{ kind: 'TextOutput', text: say }] }
            },
            end: () => end,
          }
        },
      }
      const lines = ['{"session":"s1"}', '{"say":"hello"}']
      const faults = await checkAgent(plain, { lines, kinds: ['TextOutput'], finalText: 'hello', sessionId: 's1' })
      // Its mapping is careless: it believes any line.
      console.log(JSON.stringify(faults.map((fault) => fault.split(':')[0])))
      `,
    )
    const { stdout, stderr } = spawnSync(process.execPath, ['agent.mjs'], options)
    expect({ stderr, faults: JSON.parse(stdout) }).toEqual({
      stderr: '',
      faults: ['survives invalid UTF-8, and repeats no line that it cannot map'],
    })
  })

  const entries: [string, string[]][] = [
    ['the command', [cli, '--version']],
    ['the library', ['--input-type=module', '-e', "import '@keepup/runtime'"]],
    ['the kit for tools', ['--input-type=module', '-e', "import '@keepup/runtime/tools'"]],
    ['the kit for agents', ['--input-type=module', '-e', "import '@keepup/runtime/agents'"]],
    ['the entry for the AI SDK', ['--input-type=module', '-e', "import '@keepup/runtime/ai'"]],
    ['the entry for the Claude Agent SDK', ['--input-type=module', '-e', "import '@keepup/runtime/claude'"]],
    ['the kit for consumers', ['--input-type=module', '-e', "import '@keepup/runtime/consumers'"]],
    ['the kit for events', ['--input-type=module', '-e', "import '@keepup/runtime/events'"]],
    ['the library, required', ['-e', "require('@keepup/runtime')"]],
  ]
  const NEEDS = /^\[?(?:Error: )?keepup needs Node\.js 24 or newer; this is v\d+\.\d+\.\d+\. Install it from .*$/

  it.each(entries)('%s says in one line what it needs, on a Node that says it is an old one', (_, args) => {
    const { status, stderr } = spawnSync(process.execPath, ['--import', OLD, ...args], options)
    expect(stderr.split('\n').filter((line) => NEEDS.test(line))).toHaveLength(1)
    expect(status).toBe(1)
  })

  describe.runIf(oldNode !== undefined)(`on the Node of this host that is older: ${oldNode}`, () => {
    it.each(entries)('%s says in one line what it needs', (_, args) => {
      const { status, stderr } = spawnSync(oldNode!, args, options)
      expect(stderr.split('\n').filter((line) => NEEDS.test(line))).toHaveLength(1)
      expect(stderr).not.toMatch(/^\s+at /m)
      expect(status).toBe(1)
    })
  })
  if (oldNode === undefined) {
    console.warn('SKIPPED: there is no Node older than 24 on the PATH, so the package is not tried on one')
    it.skip('on an older Node: there is none on the PATH', () => {})
  }
})

describe('the tutorial', () => {
  it('works from its first command to its last, in an empty home', () => {
    const home = join(folders.base, 'tutorial')
    const bin = join(home, 'bin')
    mkdirSync(bin, { recursive: true })
    symlinkSync(cli, join(bin, 'keepup'))
    const blocks = blocksIn('sh').filter(({ page }) => page === 'api/docs/tutorial.md')
    const [install = '', ...rest] = blocks.flatMap(({ text }) => text.split('\n').slice(0, 1))
    expect(install).toBe('npm install --global @keepup/runtime')
    expect(rest.length).toBeGreaterThan(8)
    // The package is installed already, and the ids that a person copies come from the list of approvals.
    const script = blocks
      .map(({ text }) => text)
      .join('\n')
      .replace(`${install}\n`, '')
      .replaceAll(/\bCALL\b/g, '"$CALL"')
      .replaceAll(/\bRUN\b/g, '"$RUN"')
      .replace(
        /(?=keepup approve )/,
        `CALL=$(keepup approvals -o json | node -p 'JSON.parse(fs.readFileSync(0))[0].toolCallId') RUN=\${CALL%%.*}\n`,
      )
    const own = { ...env, HOME: home, PATH: [bin, env.PATH].join(delimiter), XDG_DATA_HOME: join(home, 'data') }
    const { stdout, stderr } = spawnSync('bash', ['-c', script], { ...options, cwd: home, env: own })
    expect(stderr).not.toContain('should not have happened')
    expect(stdout, stderr).toMatch(/^VALID$/m)
    expect(stdout).toContain("export const greet = (name) => 'Hello ' + name\n")
    expect(stdout).toMatch(/ interrupted /)
    expect(stdout).toMatch(/model_attempt_lost/)
    expect(stdout.match(/tool_call_start +write_file/g)).toHaveLength(1)
    expect(stdout).toMatch(/: holds, /)
    expect(stdout).toMatch(/^INVALID: 1 faults\nthe forgery was found$/m)
  })
})
