import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import own from '../../package.json' with { type: 'json' }
import { stepsOf } from '../support/containerfile.ts'
import { freshFolders } from '../support/folders.ts'
import { hasBubblewrap } from '../support/programs/bubblewrap.ts'

// The last stage of the Containerfile on this machine, with a root folder that bubblewrap makes instead of an image: the
// installed tarball, the environment, the user, the volumes and the health check.

const root = resolve(import.meta.dirname, '../..')
const tarball = join(root, `keepup-runtime-${own.version}.tgz`)
const folders = freshFolders()
afterAll(folders.remove)

const steps = stepsOf(readFileSync(join(root, 'Containerfile'), 'utf8'))
const of = (keyword: string) => steps.findLast((step) => step.keyword === keyword)!.text

/** The variables of an instruction `ENV A=1 B=2`. */
const variables = of('ENV')
  .split(' ')
  .flatMap((pair) => ['--setenv', ...pair.split(/=(.*)/s).slice(0, 2)])

it.runIf(hasBubblewrap)('serves as a user without rights until it is ready, and ends at a signal', () => {
  if (!existsSync(tarball)) throw new Error('there is no tarball; make it with "npm run pack"')
  const global = join(folders.base, 'global')
  const installed = join(global, 'node_modules/@keepup/runtime')
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as { dependencies: object }
  for (const name of Object.keys(dependencies)) {
    const at = join(global, 'node_modules', name)
    if (existsSync(at)) continue
    mkdirSync(dirname(at), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), at)
  }
  const bin = join(folders.base, 'bin')
  mkdirSync(bin)
  symlinkSync(join(installed, 'api/cli/keepup.js'), join(bin, 'keepup'))
  symlinkSync(process.execPath, join(bin, 'node'))
  const volumes = (JSON.parse(of('VOLUME')) as string[]).flatMap((volume) => {
    const folder = join(folders.base, 'volumes', volume)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return ['--bind', folder, volume]
  })
  const node = dirname(dirname(process.execPath))
  const image = [
    ...['--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin', '--symlink', 'usr/lib', '/lib'],
    ...['--symlink', 'usr/lib64', '/lib64', '--ro-bind', '/etc', '/etc', '--proc', '/proc', '--dev', '/dev'],
    ...['--tmpfs', '/tmp', '--ro-bind', join(root, 'node_modules'), join(root, 'node_modules')],
    ...['--ro-bind', node, node, '--ro-bind', global, global, '--ro-bind', bin, bin],
  ]
  const user = ['--unshare-all', '--die-with-parent', '--uid', '1000', '--gid', '1000', '--clearenv', ...variables]
  const place = ['--setenv', 'HOME', '/tmp', '--setenv', 'PATH', `${bin}:/usr/bin`, '--chdir', of('WORKDIR')]
  const served = (JSON.parse(of('ENTRYPOINT')) as string[]).concat(JSON.parse(of('CMD')) as string[])
  const check = JSON.parse(/CMD (\[.*\])$/.exec(of('HEALTHCHECK'))![1]!) as string[]
  const script = `
    "$1" "$2" & server=$!
    shift 2
    tries=0
    until "$@"; do tries=$((tries + 1)); [ $tries -gt 100 ] && exit 9; done
    id -u
    kill -TERM $server
    wait $server
    echo "ended with $?"`
  const command = ['sh', '-c', script, 'sh', ...served, ...check]
  const { stdout, stderr, status } = spawnSync('bwrap', [...image, ...volumes, ...user, ...place, ...command], {
    encoding: 'utf8',
    timeout: 120_000,
  })
  expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: '1000\nended with 0\n' })
  expect(existsSync(join(folders.base, 'volumes/data/log'))).toBe(true)
  expect(existsSync(join(folders.base, 'volumes/keys/vault.key'))).toBe(true)
})
