import { go, query } from '../page/router.ts'
import { SavedMenu, savedUnder } from '../parts/saved-menu.tsx'
import { chosenColumns } from './columns.tsx'
import { filtersIn } from './filters.ts'

/** The queries of the list's URL: filters, groups and columns. */
const views = savedUnder('views', (found): found is string => typeof found === 'string')

function present(): string {
  const group = query.value.get('group')
  const columns = chosenColumns().join(',')
  return String(new URLSearchParams({ ...filtersIn(query.value), ...(group === null ? {} : { group }), columns }))
}

/** Lists of runs with their filters, groups and columns, saved in this browser. */
export const ViewsMenu = () => (
  <SavedMenu label="Views" end saved={views} present={present} onOpen={(view) => go(`/?${view}`)} />
)
