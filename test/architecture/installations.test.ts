import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { validate } from 'dockerfile-utils'
import { describe, expect, it } from 'vitest'
import own from '../../package.json' with { type: 'json' }
import { stepsOf } from '../support/containerfile.ts'
import { tempFolder } from '../support/folders.ts'

const root = join(import.meta.dirname, '../..')
const containerfile = readFileSync(join(root, 'Containerfile'), 'utf8')
const compose = readFileSync(join(root, 'docker-compose.yml'), 'utf8')

describe('the Containerfile', () => {
  const steps = stepsOf(containerfile)
  const last = steps.slice(steps.findLastIndex(({ keyword }) => keyword === 'FROM'))
  const only = (keyword: string) => last.filter((step) => step.keyword === keyword).map(({ text }) => text)

  it('is one that builders accept', () => {
    expect(validate(containerfile)).toEqual([])
    expect(validate('FROM x\nCOPPY a b\n')).not.toEqual([])
  })

  it('pins Node, and names images without a registry', () => {
    const images = steps.filter(({ keyword }) => keyword === 'FROM').map(({ text }) => text.split(' ')[0]!)
    expect(images.length).toBe(2)
    for (const image of images) expect(image).toMatch(/^node:\d+-[a-z]+-slim$/)
    expect(Number(/\d+/.exec(images[0]!)![0])).toBeGreaterThanOrEqual(Number(/\d+/.exec(own.engines.node)![0]))
  })

  it('runs as a user without rights, who owns the volumes of data, keys and work', () => {
    expect(only('USER')).toEqual(['node'])
    const volumes = JSON.parse(only('VOLUME')[0]!) as string[]
    expect(volumes).toEqual(['/data', '/keys', '/work'])
    const made = only('RUN').find((text) => text.includes('install --directory'))!
    expect(made).toContain(`--owner=node --group=node --mode=0700 ${volumes.join(' ')}`)
    const env = only('ENV')[0]!
    expect(env).toContain('KEEPUP_DATA=/data')
    // Who copies the data must not get the key with it.
    expect(env).toContain('KEEPUP_VAULT_KEY_FILE=/keys/')
    const at = (keyword: string) => last.findIndex((step) => step.keyword === keyword)
    expect(last.findLastIndex((step) => step.keyword === 'RUN')).toBeLessThan(at('USER'))
  })

  it('asks its own port whether it is ready, as the compose file does', () => {
    const check = /CMD (\[.*\])$/.exec(only('HEALTHCHECK')[0]!)![1]!
    expect(check).toContain(`http://127.0.0.1:${only('EXPOSE')[0]}/v1/ready`)
    const [, asked] = /test: \["CMD", (.*\/v1\/ready.*\])$/m.exec(compose)!
    expect(`[${asked}`).toBe(check)
  })

  it('copies nothing that git ignores or that a build makes', () => {
    const linesOf = (file: string) => readFileSync(join(root, file), 'utf8').split('\n').filter(Boolean)
    // A pattern of git holds in every folder, one of Docker from the root of the context alone.
    const ofGit = linesOf('.gitignore').map((line) => `**/${line.replace(/\/$/, '')}`)
    expect(linesOf('.dockerignore')).toEqual(expect.arrayContaining(['.git', ...ofGit]))
  })

  it('is the image of the compose file, in the version of the package', () => {
    expect(compose).toContain(`image: keepup:${own.version}\n`)
    expect(compose).toContain('dockerfile: Containerfile\n')
  })
})

describe('the unit of systemd', () => {
  const unit = readFileSync(join(root, 'api/docs/keepup.service'), 'utf8')
  const settings = new Map([...unit.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]))

  it('is one that systemd accepts', { tags: ['systemd'] }, () => {
    const file = join(tempFolder(), 'keepup.service')
    // The program and its page need not be installed here.
    writeFileSync(file, unit.replace('/usr/local/bin/keepup', '/bin/true').replace(/^Documentation=.*\n/m, ''))
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' })
    writeFileSync(file, unit.replace('DynamicUser', 'DynamikUser'))
    expect(spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' }).stderr).toContain('DynamikUser')
  })

  it('exposes little of the system, by the measure of systemd', { tags: ['systemd'] }, () => {
    const told = execFileSync(
      'systemd-analyze',
      ['security', '--offline=true', join(root, 'api/docs/keepup.service')],
      {
        encoding: 'utf8',
      },
    )
    expect(Number(/Overall exposure level for keepup.service: ([\d.]+)/.exec(told)![1])).toBeLessThan(4)
  })

  it('keeps data, key and work in folders of its own', () => {
    expect(settings.get('StateDirectory')).toBe('keepup keepup-keys keepup-work')
    expect(settings.get('DynamicUser')).toBe('yes')
    expect(unit).toContain('Environment=KEEPUP_DATA=%S/keepup\n')
    expect(unit).toContain('Environment=KEEPUP_VAULT_KEY_FILE=%S/keepup-keys/vault.key\n')
  })

  it('leaves bubblewrap what it needs', () => {
    // Each of these covers a part of /proc, and then no namespace may mount a /proc of its own; or forbids namespaces.
    for (const name of [
      'RestrictNamespaces',
      'ProtectHostname',
      'ProtectKernelTunables',
      'ProtectKernelLogs',
      'ProtectProc',
      'ProcSubset',
    ])
      expect([name, settings.has(name)]).toEqual([name, false])
    expect(settings.get('SystemCallFilter')).toContain('@mount')
  })
})
