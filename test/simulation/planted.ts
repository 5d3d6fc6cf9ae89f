import { plant } from './plant.ts'
import { PLANTED } from './planted-bugs.ts'

// npm run test:planted [word…]: plants each bug of the table into a copy of the sources, and prints when the simulation
// finds it, and by which rule. Fails unless each bug breaks its rule. `STORIES=1` prints the shrunk histories too.

const BOUNDS = { seconds: 60, shrink: 6 }

const words = process.argv.slice(2)
const wanted = PLANTED.filter(({ bug }) => words.every((word) => bug.includes(word)))
let asExpected = 0
console.log('| bug | broken rule | found after | shrunk to |\n|---|---|---|---|')
for (const bug of wanted) {
  const outcome = await plant(bug, BOUNDS)
  if (outcome.verdict === 'found') asExpected++
  if (outcome.verdict === 'does not run') {
    console.log(`| ${bug.bug} | DOES NOT RUN | | |\n\n${outcome.error}\n`)
    continue
  }
  const { verdict, steps, seconds, found } = outcome
  const rule = found === null ? 'NOT FOUND' : `${verdict === 'found' ? '' : 'NOT EXPECTED: '}${found.rule}`
  const after = `${steps.toLocaleString('en')} steps, ${seconds.toFixed(1)} s`
  const shrunk = found === null ? '' : `${found.shrunkSteps} steps, ${found.unusual} unusual choices`
  console.log(`| ${bug.bug} | ${rule} | ${after} | ${shrunk} |`)
  if (found !== null && (verdict !== 'found' || process.env.STORIES !== undefined))
    console.log(`\nseed ${found.seed}\n${found.story}\n`)
}
if (asExpected < wanted.length) process.exitCode = 1
console.log(`\n${asExpected} of ${wanted.length} bugs were found by their rules`)
