import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export const VERIFY_PY = join(import.meta.dirname, '../../api/docs/verify.py')

// A line of input is [action, ...arguments] in JSON; a line of output is its result.
const PROGRAM = `
import contextlib, importlib.util, io, json, sys
spec = importlib.util.spec_from_file_location('verify', sys.argv[1])
verify = importlib.util.module_from_spec(spec)
spec.loader.exec_module(verify)
def main(*args):
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown): code = verify.main(*args)
    return [code, shown.getvalue()]
def canonical(text):
    return json.dumps(json.loads(text), sort_keys=True, separators=(',', ':'), ensure_ascii=False)
def included(index, size, leaf, proof, root):
    return verify.is_included(index, size, bytes.fromhex(leaf), [bytes.fromhex(one) for one in proof], bytes.fromhex(root))
def ed25519(*parts):
    try: return verify.ed25519(*[bytes.fromhex(one) for one in parts])
    except ValueError: return False
def root(leaves):
    known = [(index, bytes.fromhex(one)) for index, one in enumerate(leaves)]
    return verify.root_of(0, len(leaves), known[::-1], iter([])).hex()
actions = {'main': main, 'canonical': canonical, 'included': included, 'ed25519': ed25519, 'root': root}
for line in sys.stdin:
    action, *args = json.loads(line)
    print(json.dumps(actions[action](*args)), flush=True)
`

/** Starts one Python process that calls functions of verify.py; starting one for each case would take most of the time. */
export function startPython() {
  const child = spawn('python3', ['-c', PROGRAM, VERIFY_PY], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const call = async <T>(action: string, ...args: readonly unknown[]): Promise<T> => {
    child.stdin.write(`${JSON.stringify([action, ...args])}\n`)
    const { value, done } = await lines.next()
    if (done) throw new Error(`python3 ended during ${action}`)
    return JSON.parse(value) as T
  }
  return {
    /** Runs verify.py with arguments. */
    run: async (...args: readonly string[]) => {
      const [code, shown] = await call<[number, string]>('main', ...args)
      return { code, shown }
    },
    call,
    end: async () => {
      child.stdin.end()
      await once(child, 'close')
    },
  }
}
