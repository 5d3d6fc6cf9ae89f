import { render } from 'preact'
import { api } from './client/api.ts'

render(<main>{String(api !== null)}</main>, document.getElementById('page')!)
