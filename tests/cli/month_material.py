"""The month of `test_owners_month`: a library network's repository, and the two machines that clone it.

Each document is about one thing. Two of them have a section that answers a case beside one that does not: the month
loses the answer and keeps the file.
"""

from collections.abc import Callable
from dataclasses import dataclass

from command_line import Outcome

from material import WorkingTree

FINES = "# Multas\n\n## Isenção\n\nCrianças até doze anos estão livres de cobrança.\n"
FINE_ANSWER = "\n## Valor\n\nCada dia de atraso na devolução custa uma multa de cinquenta centavos.\n"
BUILDING = "# Prédio\n\n## Chaves\n\nA portaria guarda as chaves dos depósitos.\n"
FIRE_ANSWER = (
    "\n## Incêndio\n\nQuando o alarme de incêndio toca, todos saem pela escada do jardim, sem elevador.\n"
)

DOCUMENTS = {
    "docs/emprestimo.md": "# Empréstimo\n\nUm livro emprestado fica quinze dias com o leitor.\n",
    "docs/multas.md": FINES + FINE_ANSWER,
    "docs/cadastro.md": "# Cadastro\n\nPara fazer o cadastro bastam documento com foto e comprovante recente.\n",
    "docs/predio.md": BUILDING + FIRE_ANSWER,
    "docs/salas.md": "# Salas de estudo\n\nA reserva de uma sala de estudo vale duas horas.\n",
    "docs/bibliobus.md": "# Bibliobus\n\nO bibliobus visita cada bairro às terças e quintas.\n",
    "docs/doacoes.md": "# Doações\n\nDoações de livros são recebidas no balcão e triadas em uma semana.\n",
    "docs/malote.md": (
        "# Malote\n\nLivros deixados em qualquer unidade voltam à estante de origem por um malote diário. O motorista "
        "recolhe caixas às sete, confere etiquetas, assina a guia e entrega tudo até meio-dia. Caixas sem etiqueta "
        "ficam retidas na central, onde a equipe descobre de quem são.\n"
    ),
    "docs/adr/0001-catalogo.md": (
        "# Catálogo único\n\n## Decisão\n\nTodas as unidades partilham um catálogo único em MARC 21.\n"
    ),
    "docs/adr/0002-avisos.md": (
        "# Avisos aos leitores\n\n## Decisão\n\nAvisos seguem por correio eletrônico, nunca por telefone.\n"
    ),
    "docs/adr/0003-copias.md": (
        "# Cópias de segurança\n\n## Decisão\n\nA cópia de segurança noturna é guardada fora da cidade.\n"
    ),
    "docs/adr/0004-horarios.md": "# Horários\n\n## Decisão\n\nO horário de verão acabou: fechamos às vinte horas.\n",
}

# neither floor nor settings yet: both come in the first week
CASES = """\
cases:
  - id: prazo
    question: Quantos dias fica um livro emprestado?
    expected: docs/emprestimo.md
  - id: multa
    question: Quanto custa a multa por dia de atraso?
    expected: docs/multas.md
  - id: cadastro
    question: Quais documentos bastam para o cadastro?
    expected: docs/cadastro.md
  - id: incendio
    question: Por onde se sai quando toca o alarme de incêndio?
    expected: docs/predio.md
    must_pass: true
  - id: salas
    question: Quantas horas vale a reserva de uma sala?
    expected: docs/salas.md
  - id: bibliobus
    question: Em que bairro o bibliobus passa às terças?
    expected: docs/bibliobus.md
  - id: catalogo
    question: As unidades partilham um catálogo?
    expected: docs/adr/0001-catalogo.md
    scope: adr
  - id: avisos
    question: Os avisos seguem por correio ou por telefone?
    expected: docs/adr/0002-avisos.md
    scope: adr
  - id: malote
    question: Posso deixar os livros em outra unidade, e quem os recolhe?
    expected: docs/malote.md
  - id: almoco
    question: Vocês servem almoço?
    no_answer: true
"""

NEW_CASES = """\
  - id: doacoes
    question: Onde são recebidas doações de livros?
    expected: docs/doacoes.md
  - id: copias
    question: Onde é guardada a cópia de segurança?
    expected: docs/adr/0003-copias.md
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Somebody's machine: a clone of the repository, and a Medir that has a home of its own."""

    clone: WorkingTree
    medir: Callable[..., Outcome]

    def edit(self, path: str, *, old: str, new: str) -> None:
        """Put one text in place of another, which must be there."""
        file = self.clone.folder / path
        before = file.read_text(encoding="utf-8")
        assert old in before
        file.write_text(before.replace(old, new), encoding="utf-8")

    def share(self, message: str) -> str:
        """Commit all that was edited and push it; returns the commit."""
        commit = self.clone.commit({}, message=message)
        self.clone.git("push", "--quiet", "origin", "main")
        return commit

    def pull(self) -> None:
        self.clone.git("pull", "--quiet", "--ff-only", "origin", "main")


def told(found: object) -> object:
    """What two machines' documents must have in common: all but time fields and the ids of one database's rows."""
    if isinstance(found, dict):
        return {
            key: told(value)
            for key, value in found.items()
            if not key.endswith(("Ms", "At")) and key not in ("chunkId", "runId")
        }
    if isinstance(found, list):
        return [told(value) for value in found]
    return round(found, 6) if isinstance(found, float) else found
