"""Function words: what a question is not about. Left out of questions only; the index keeps them.

The stock stop lists of PostgreSQL lack many of them; what stands here is left out beside those. By language, since a
word of one is a thing in another. Portuguese has the closed classes of its grammar (articles, pronouns, prepositions
and their contractions, conjunctions, question words, adverbs that point, forms of ser, estar, ter and haver), written
out class by class, beside the stock list (Snowball's, https://snowballstem.org/algorithms/portuguese/stop.txt). Not in
it: what is also the name of a thing or another verb, as *ser*, *nada*, *sede*, *caso*, *si*, *ti*, *estado*, *consigo*.
"""

import unicodedata
from collections.abc import Mapping

from rag_core.lexical.spellings import fold

_PORTUGUESE = """
    o a os as um uma uns umas lo la los las

    que quê qual quais quem quando quanto quanta quantos quantas como onde aonde donde porque porquê cadê
    cujo cuja cujos cujas pq

    eu tu ele ela nós vós eles elas você vocês vc vcs me te se lhe lhes nos vos mim
    comigo contigo conosco connosco convosco
    meu minha meus minhas teu tua teus tuas seu sua seus suas nosso nossa nossos nossas vosso vossa vossos vossas
    este esta estes estas isto esse essa esses essas isso aquele aquela aqueles aquelas aquilo
    algum alguma alguns algumas nenhum nenhuma nenhuns nenhumas todo toda todos todas tudo cada qualquer quaisquer
    outro outra outros outras outrem alguém ninguém algo tal tais tanto tanta tantos tantas
    mesmo mesma mesmos mesmas muito muita muitos muitas

    ante após até com contra de desde durante em entre exceto mediante para perante por sem sob sobre pra pras pro pros
    ao aos à às á ás do da dos das no na nas num numa nuns numas dum duma duns dumas pelo pela pelos pelas
    prum pruma pruns prumas
    dele dela deles delas nele nela neles nelas
    deste desta destes destas disto desse dessa desses dessas disso daquele daquela daqueles daquelas daquilo
    neste nesta nestes nestas nisto nesse nessa nesses nessas nisso naquele naquela naqueles naquelas naquilo
    àquele àquela àqueles àquelas àquilo
    doutro doutra doutros doutras noutro noutra noutros noutras
    dalgum dalguma dalguns dalgumas nalgum nalguma nalguns nalgumas
    daqui daí dali dalém dentre

    e nem mas ou porém todavia contudo entretanto portanto pois embora enquanto senão conquanto porquanto

    não já ainda também só apenas assim então aqui ali lá acolá além depois mais tão quão

    é sou somos são era éramos eram fui foste foi fomos foram fora fôramos seja sejas sejamos sejam fosse fôssemos
    fossem for formos forem serei serás será seremos serão seria serias seríamos seriam sendo sido

    estar estou estás está estamos estais estão estava estavas estávamos estavam estive estiveste esteve estivemos
    estiveram estivera estivéramos esteja estejas estejamos estejam estivesse estivesses estivéssemos estivessem estiver
    estiveres estivermos estiverem estarei estarás estará estaremos estarão estaria estarias estaríamos estariam estando
    tá tô tava tavam

    ter tenho tens tem temos têm tém tinha tinhas tínhamos tinham tive tiveste teve tivemos tiveram tivera tivéramos
    tenha tenhas tenhamos tenham tivesse tivesses tivéssemos tivessem tiver tiveres tivermos tiverem terei terás terá
    teremos terão teria terias teríamos teriam tendo tido

    haver hei hás há havemos hão havia havias havíamos haviam houve houvemos houveram houvera houvéramos haja hajas
    hajamos hajam houvesse houvéssemos houvessem houver houvermos houverem haverei haverá haveremos haverão haveria
    haveríamos haveriam havendo havido
"""
# without their accents they name things: the state ES, AI
_ONLY_WITH_ACCENT = "és aí"


def _spelled(words: str, only_with_accent: str) -> frozenset[str]:
    return frozenset((*words.split(), *map(fold, words.split()), *only_with_accent.split()))


STOP_WORDS: Mapping[str, frozenset[str]] = {"portuguese": _spelled(_PORTUGUESE, _ONLY_WITH_ACCENT)}
"""By text search configuration; each word in lower case as it is written, and as it is typed without accents."""


def stop_words_of(language: str) -> frozenset[str]:
    """The function words of a language; none where nobody has written them down."""
    return STOP_WORDS.get(language, frozenset())


def as_listed(word: str) -> str:
    """A word as the lists have it: lower case, accents composed, and no accent taken away.

    Accents are no matter only where none was typed: *nao* is *não*, but *más* is not *mas*.
    """
    return unicodedata.normalize("NFC", word).lower()
