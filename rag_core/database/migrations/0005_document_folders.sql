-- Which folders under a project's root hold documents and which decisions; the defaults are what was fixed before.

alter table projects
    add column docs_folders text[] not null default '{docs}',
    add column adr_folders text[] not null default '{docs/adr}',
    add constraint projects_folders_check check (cardinality(docs_folders) + cardinality(adr_folders) > 0);
