import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openKeepUp } from '../../../api/library/open-keepup.ts'
import { COSIGNATURE, ED25519, formatVkey, noteSigner } from '../../../domain/log/proof/note.ts'
import { VERIFIERS } from '../../../domain/log/proof/pack.ts'
import { cliFolder, idIn } from '../support/cli.ts'

describe('pack', { timeout: 120_000, tags: ['git', 'python3'] }, () => {
  const folder = cliFolder()
  afterAll(() => folder.clean())
  const { look, data, root } = folder

  const unpacked = (file: string): string => {
    const to = `${file}.d`
    mkdirSync(to)
    execFileSync('tar', ['-xf', file, '-C', to])
    return to
  }
  /** verify.py of the pack itself. */
  const python = (pack: string, ...more: string[]) => {
    try {
      const out = execFileSync('python3', [join(pack, 'verify.py'), pack, ...more], { encoding: 'utf8' })
      return { code: 0, out }
    } catch (error) {
      const { status, stdout } = error as { status: number; stdout: string }
      return { code: status, out: stdout }
    }
  }

  it('contains the tags and notes of its runs with their proof, and a story of no other events', async () => {
    const id = idIn((await look('run', 'finish', '-w', folder.workspace())).err)
    for (const words of [
      ['runs', 'tag', id, 'reviewed'],
      ['runs', 'note', id, 'Ann has read it.'],
    ])
      expect((await look(...words)).code).toBe(0)
    const file = join(root, 'noted.pack')
    expect((await look('pack', id, '--to', file)).code).toBe(0)
    const pack = unpacked(file)
    expect(python(pack)).toMatchObject({ code: 0 })
    const lines = readFileSync(join(pack, 'events.ndjson'), 'utf8').trim().split('\n')
    expect(lines.filter((line) => line.includes(`annotation-${id}`)).length).toBe(2)
    expect(readFileSync(join(pack, 'story.html'), 'utf8')).toMatch(/Tags and notes.*reviewed.*Ann has read it\./s)
    // A period without events.
    const later = join(root, 'later.pack')
    const since = '2100-01-01T00:00:00.000Z'
    expect((await look('pack', id, '--since', since, '--to', later)).code).toBe(0)
    expect(readFileSync(join(unpacked(later), 'story.html'), 'utf8')).not.toMatch(/Tags and notes|Ann|<section/)
  })

  it('writes a run that both verifiers accept, with tables, requests and a story without scripts', async () => {
    const how = ['--tools', 'write_file', '--approve', 'write_file']
    const hostile = 'write it <script>alert(1)</script>'
    const id = idIn((await look('run', hostile, '-w', folder.workspace(), ...how)).err)
    const file = join(root, 'run.pack')
    expect(await look('pack', id, '--to', file)).toMatchObject({
      code: 0,
      out: expect.stringContaining('pack --check'),
    })
    expect((await look('pack', id, '--to', file)).code).toBe(1)
    expect(await look('pack', '--check', file)).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /: holds, \d+ events of 1 stream, \d+ with their body, 0 erased, 0 withheld\n {2}signed/,
      ),
      err: expect.stringContaining('The keys are those in the pack'),
    })
    const pack = unpacked(file)
    expect(python(pack)).toMatchObject({ code: 0, out: expect.stringContaining('openssl pkeyutl') })
    expect(readFileSync(join(pack, 'README.txt'), 'utf8')).toContain('keepup pack --verifier FILE')
    for (const name of ['README.txt', 'hashes.txt', 'agents.json', 'story.html', `requests/${id}/1.json`])
      expect(readFileSync(join(pack, name), 'utf8').length).toBeGreaterThan(1)
    expect(readdirSync(join(pack, 'tables'))).toEqual(expect.arrayContaining(['agents.csv', 'tool_calls.csv']))
    expect(readFileSync(join(pack, 'tables/agents.csv'), 'utf8')).toContain(id)
    const answer = (name: string) => readFileSync(join(pack, 'answers', id, name), 'utf8')
    const decided = JSON.parse(answer('decisions.json')) as { columns: string[]; rows: string[][]; inputs: object }
    expect(decided).toMatchObject({ question: 'decisions', inputs: { run: id }, more: false })
    expect(decided.rows.map((row) => row[decided.columns.indexOf('event')])).toContainEqual(
      expect.stringMatching(new RegExp(`^agent-${id}@\\d+$`)),
    )
    expect(answer('cost_by_model.csv')).toMatch(/^model,runs,calls/)
    // Only answers with rows.
    expect(readdirSync(join(pack, 'answers', id))).not.toContain('failed_commands.csv')
    const story = readFileSync(join(pack, 'story.html'), 'utf8')
    expect(story).toContain('a verifier from elsewhere')
    expect(story).toContain('hello.txt')
    expect(story).toContain('&#60;script&#62;')
    expect(story).not.toContain('<script')

    const [key] = JSON.parse((await look('-o', 'json', 'sql', 'select vkey from log_origins')).out) as {
      vkey: string
    }[]
    expect((await look('pack', '--check', file, '--vkey', key!.vkey)).code).toBe(0)
    const other = formatVkey(noteSigner('other.example', new Uint8Array(32).fill(3), ED25519).key)
    expect((await look('pack', '--check', file, '--vkey', other)).code).toBe(5)

    const own = join(root, 'own.py')
    const written = await look('pack', '--verifier', own)
    expect(written).toMatchObject({ code: 0, out: expect.stringContaining(VERIFIERS.at(-1)!) })
    expect(readFileSync(own)).toEqual(readFileSync(join(pack, 'verify.py')))
    expect((await look('pack', '--verifier', own)).code).toBe(1)
    expect((await look('pack', '--check', file)).out).not.toMatch(/verify\.py|no pack of keepup/)
    const liar = join(root, 'liar.pack')
    writeFileSync(join(pack, 'verify.py'), "print('VALID')\n")
    execFileSync('tar', ['-cf', liar, '-C', pack, '.'])
    writeFileSync(join(pack, 'verify.py'), readFileSync(own))
    expect((await look('pack', '--check', liar)).out).toContain('verify.py of the pack is none that this keepup knows')
    writeFileSync(join(pack, 'hashlib.py'), "print('VALID')\n")
    execFileSync('tar', ['-cf', liar, '-C', pack, '.'])
    rmSync(join(pack, 'hashlib.py'))
    expect((await look('pack', '--check', liar)).out).toContain('files that no pack of keepup has: hashlib.py')

    const policy = readFileSync(join(pack, 'policy.txt'), 'utf8')
    writeFileSync(join(pack, 'policy.txt'), `${policy}# ${'x'.repeat(1024 * 1024)}\n`)
    const swollen = join(root, 'swollen.pack')
    execFileSync('tar', ['-cf', swollen, '-C', pack, '.'])
    expect((await look('pack', '--check', swollen)).code).toBe(5)
    writeFileSync(join(pack, 'policy.txt'), policy)

    const events = readFileSync(join(pack, 'events.ndjson'), 'utf8')
    writeFileSync(join(pack, 'events.ndjson'), events.replace('"kind":"model"', '"kind":"driver"'))
    const forged = join(root, 'forged.pack')
    execFileSync('tar', ['-cf', forged, '-C', pack, '.'])
    expect(await look('pack', '--check', forged)).toMatchObject({
      code: 5,
      out: expect.stringMatching(new RegExp(`agent-${id}@\\d+: its hash does not follow`)),
    })
    expect(python(pack).code).toBe(1)
  })

  it('writes the whole log, large bodies as blobs, and says why a body is absent', async () => {
    {
      await using keepup = await openKeepUp({ data, by: 'ann' })
      await keepup.contextStore('review').set('large', 'x'.repeat(200_000))
      await keepup.contextStore('review').set('secret', 'forget me')
    }
    await look('stores', 'erase', 'review', 'secret', '--yes', '--reason', 'asked for')
    const erasures = JSON.parse((await look('-o', 'json', 'sql', 'select code, reason from erasures')).out)
    expect(erasures).toContainEqual({ code: 'other', reason: 'asked for' })
    const file = join(root, 'all.pack')
    expect((await look('pack', '--to', file)).code).toBe(0)
    const { code, out } = await look('pack', '--check', file)
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/: holds, \d+ events of \d+ streams, \d+ with their body, [1-9]\d* erased/),
    ])
    // The facts of the erasures are in the pack.
    expect(out.match(/(?<=not proved: ).*/g)).toEqual([expect.stringContaining('files beside the events')])
    const pack = unpacked(file)
    expect(readdirSync(pack)).not.toContain('hashes.txt')
    expect(python(pack).code).toBe(0)
    const [blob] = readdirSync(join(pack, 'blobs'))
    writeFileSync(join(pack, 'blobs', blob!), 'other')
    expect(python(pack)).toMatchObject({ code: 1, out: expect.stringContaining('is altered') })

    const bare = join(root, 'bare.pack')
    expect((await look('pack', '--to', bare, '--no-bodies', '--since', '2020-01-01')).code).toBe(0)
    expect((await look('pack', '--check', bare)).out).toMatch(/, 0 with their body, \d+ erased, \d+ withheld/)
    expect(python(unpacked(bare)).code).toBe(0)
  })

  it('refuses a malformed --vkey, and one of another type than that of logs', async () => {
    const vkey = formatVkey(noteSigner('w.example', new Uint8Array(32).fill(3), COSIGNATURE).key)
    const text = join(root, 'unread')
    writeFileSync(text, 'no pack')
    expect(await look('pack', '--check', text, '--vkey', vkey)).toMatchObject({
      ...{ code: 2, err: expect.stringContaining('logs sign with keys of type 1, not 4') },
    })
    expect(await look('pack', '--check', text, '--vkey', 'xx')).toMatchObject({
      ...{ code: 2, err: expect.stringContaining('--vkey: this is not a verifier key (name+id+key); copy') },
    })
  })

  it('refuses arguments that name nothing to do, and a file that is no pack', async () => {
    for (const args of [[], ['--to', 'a', '--check', 'b'], ['--check', 'b', 'run'], ['--check', join(root, 'absent')]])
      expect((await look('pack', ...args)).code).toBe(2)
    const text = join(root, 'text')
    writeFileSync(text, 'no pack')
    expect((await look('pack', '--check', text)).code).toBe(5)
  })
})
