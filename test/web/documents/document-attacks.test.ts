import { Marked } from 'marked'
import { expect, test } from 'vitest'
import { type Judged, MarkupJudge } from '../../support/browser/markup-judge.ts'
import { useBrowser } from '../../support/browser/pages.ts'
import { FORMS } from '../../support/documents/attack-forms.ts'
import { payloads } from '../../support/documents/attack-payloads.ts'
import { exported, WAYS } from '../../support/documents/markup-ways.ts'

const browser = useBrowser()

/** Every form and a sample of changed forms, others each time; `ATTACKS=10000 npm run test:web` tries 10,000 in two minutes. */
const COUNT = Number(process.env.ATTACKS ?? 800)
const SEED = Number(process.env.FC_SEED ?? Math.floor(Math.random() * 2 ** 31))

/** GitHub's Markdown, but for plain addresses in a text: those become links of any scheme, which is no attack. */
const marked = new Marked({ gfm: true, tokenizer: { url: () => undefined } })

test('the judge sees every form where nothing takes it out, and holds nothing against a document', async () => {
  const judge = await MarkupJudge.open(await browser.page())
  const faults = await judge.parsed(FORMS)
  expect(FORMS.filter((_, n) => faults[n]!.length === 0)).toEqual([])
  const fine = [
    '<p>a <a href="/p" title="&lt;img&gt;">b</a></p>',
    '<ul><li>javascript:hit()</li></ul>',
    '<a href="https:">x</a>',
  ]
  expect(await judge.faults(fine)).toEqual([])
})

test.each([
  ['runs', 'ran', '<p onclick="hit()">x</p>'],
  ['runs while the page is parsed', 'ran', '<script>hit()</script>'],
  ['loads', 'asked for http://attacker.test/s.css', '<p><style>@import "//attacker.test/s.css";</style></p>'],
  [
    'leaves the page',
    'asked for http://attacker.test/',
    '<meta http-equiv="refresh" content="0;url=//attacker.test/"/>',
  ],
  ['breaks out of its place', 'the page fell apart', '<p>x</p></div><p>y</p>'],
  ['changes when it is read again', 'another tree', '<form><div></form><form>x'],
])('the judge sees what %s', async (_, fault, html) => {
  const judge = await MarkupJudge.open(await browser.page())
  const [found] = await judge.faults(['<p>x</p>', html, '<p>y</p>'])
  expect([found?.html, found?.faults.join()]).toEqual([html, expect.stringContaining(fault)])
})

test(`${COUNT} payloads leave nothing that a browser runs, loads or may not find (FC_SEED=${SEED})`, async () => {
  const judge = await MarkupJudge.open(await browser.page())
  const all = payloads(COUNT, SEED)
  expect(all.length).toBeGreaterThanOrEqual(Math.min(COUNT, 10_000))
  for (const { name, into, every } of WAYS) {
    const tried = all.filter((_, n) => n % every === 0)
    /** Each result, with the first payload that produced it. */
    const out = new Map<string, string>()
    let refused = 0
    // The browser judges what came out of the payloads before, while the next ones are put in.
    let judging = judge.faults([])
    for (let at = 0; at < tried.length; at += AT_ONCE) {
      const fresh: string[] = []
      for (const payload of tried.slice(at, at + AT_ONCE)) {
        const document = await into(payload)
        if (document === null) {
          refused += 1
          continue
        }
        const { html, markdown } = exported(document)
        document.close()
        for (const text of [html, marked.parse(markdown, { async: false })]) {
          if (out.has(text)) continue
          out.set(text, payload)
          fresh.push(text)
        }
        await new Promise(setImmediate)
      }
      expect(faulty(out, await judging), name).toEqual([])
      judging = judge.faults(fresh)
    }
    expect(faulty(out, await judging), name).toEqual([])
    // The way is one: it lets something in.
    expect(refused, name).toBeLessThan(tried.length / 2)
    expect(out.size, name).toBeGreaterThan(tried.length / 20)
  }
})

/** How many payloads are put in while the ones before are judged. */
const AT_ONCE = 250

const faulty = (out: ReadonlyMap<string, string>, judged: readonly Judged[]) =>
  judged.map((one) => ({ payload: out.get(one.html), ...one }))
